"""The pure core: values and functions, no input or output, no clock, no globals."""
