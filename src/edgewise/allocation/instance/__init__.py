"""The sum to be maximised, ready for kernels, and what every method takes and returns.

Here is the one home of edge tables, of node tables with masks, and of "this is the optimum": see
``Objective``.
"""
