// What pages cannot do without a script: sign in by link, charts, live news, dropping files.
"use strict";

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const SYMBOLS = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x"];
const colour = (key) => style(typeof key === "number" ? `--arm-${key % 7}` : `--${key}`);

// -- sign in: the token stands behind #, which no server and no log ever sees ---------------------
function signInByLink() {
  const form = document.getElementById("sign-in");
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!token) return;
  history.replaceState(null, "", location.pathname + location.search);
  if (!form) return;
  form.elements.token.value = token;
  form.submit();
}

// -- charts ---------------------------------------------------------------------------------------
function look(trace) {
  const paint = colour(trace.colour);
  const marker = { ...trace.marker, color: paint };
  if (trace.symbol !== undefined) {
    marker.symbol = SYMBOLS[trace.symbol % SYMBOLS.length];
    marker.line = { width: 1, color: style("--card") };
  }
  const fill = trace.fill ? { fillcolor: `${paint}33` } : {};
  return { ...trace, ...fill, marker, line: { ...trace.line, color: paint } };
}

function layout(figure, width) {
  const axis = { gridcolor: style("--line"), zerolinecolor: style("--line"), automargin: true };
  const hidden = { visible: false, fixedrange: false };
  return {
    font: { color: style("--ink"), family: "system-ui, sans-serif", size: 13 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    margin: { l: 10, r: 10, t: 10, b: 10 },
    height: !figure.bare || width < 600 ? 320 : 440,
    hovermode: "closest",
    legend: figure.bare ? { orientation: "h" } : { orientation: "h", y: 1.02, yanchor: "bottom" },
    dragmode: figure.bare ? "pan" : "zoom",
    shapes: figure.marks.map((mark) => ({ ...mark, line: { ...mark.line, color: style("--edge") } })),
    xaxis: figure.bare ? hidden : { ...axis, title: { text: figure.xTitle }, tickformat: "d", ...(figure.rounds <= 15 ? { dtick: 1 } : {}) },
    yaxis: figure.bare
      ? { ...hidden, scaleanchor: "x" }
      : { ...axis, title: { text: figure.yTitle }, tickformat: figure.yFormat, ...(figure.yFormat ? { rangemode: "tozero" } : {}) },
  };
}

async function draw(box) {
  try {
    const figure = await (await get(box.dataset.chart)).json();
    await plotly();
    box.querySelector("progress")?.remove();
    const options = { responsive: true, displaylogo: false, scrollZoom: false, displayModeBar: false };
    await Plotly.react(box, figure.traces.map(look), layout(figure, box.clientWidth), options);
    caption(box, figure.note);
    box.dataset.drawn = box.dataset.chart;
  } catch (error) {
    showError(box, error);
  }
}

function caption(box, text) {
  box.parentElement.querySelector(`:scope > .caption`)?.remove();
  if (!text) return;
  const line = document.createElement("p");
  line.className = "dim caption";
  line.textContent = text;
  box.after(line);
}

let library = null;
function plotly() {
  library ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = document.querySelector("link[data-plotly]").dataset.plotly;
    script.onload = resolve;
    script.onerror = () => reject(new Error("the chart library did not load"));
    document.head.append(script);
  });
  return library;
}

// a chart is fetched and drawn when it comes into sight: the library is larger than all else
const sight = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    sight.unobserve(target);
    draw(target);
  }
}, { rootMargin: "100px" });
function drawAll(root) {
  for (const box of root.querySelectorAll("[data-chart]")) {
    sight.unobserve(box);
    sight.observe(box);
  }
}

// -- parts that take their time -------------------------------------------------------------------
async function get(url) {
  const response = await fetch(url, { headers: { Accept: "*/*" } });
  if (response.status === 401) location.reload();
  if (!response.ok) throw new Error(await said(response));
  return response;
}

async function said(response) {
  const text = await response.text();
  try {
    return JSON.parse(text).detail;
  } catch {
    const alert = new DOMParser().parseFromString(text, "text/html").querySelector("[role=alert]");
    return alert ? alert.textContent : `the server answered ${response.status}`;
  }
}

async function load(part) {
  try {
    part.innerHTML = await (await get(part.dataset.load)).text();
    part.dataset.loaded = part.dataset.position;
    drawAll(part);
  } catch (error) {
    showError(part, error);
  }
}

function showError(box, error) {
  box.querySelector("progress")?.remove();
  const line = document.createElement("p");
  line.className = "notice wrong";
  line.setAttribute("role", "alert");
  line.textContent = `This part could not be shown: ${error.message}`;
  box.replaceChildren(line);
}

// -- news -----------------------------------------------------------------------------------------
function listen() {
  const place = document.querySelector("[data-live]");
  if (!place) return;
  const source = new EventSource(place.dataset.live);
  const offline = document.getElementById("offline");
  source.addEventListener("change", refresh);
  source.onopen = () => {
    if (!offline.hidden) refresh();
    offline.hidden = true;
    document.documentElement.dataset.live = "on";
  };
  source.onerror = () => { offline.hidden = false; };
  addEventListener("pagehide", () => source.close());
}

let refreshing = false, again = false;
async function refresh() {
  if (refreshing) { again = true; return; }
  refreshing = true;
  do {
    again = false;
    try {
      const text = await (await get(location.pathname + location.search.replace(/[?&]done=\w+/, ""))).text();
      const page = new DOMParser().parseFromString(text, "text/html");
      for (const part of page.querySelectorAll("main > section[id]")) replace(part);
      for (const old of document.querySelectorAll("main > section[id]"))
        if (!page.getElementById(old.id)) old.remove();
    } catch { /* the notice about the connection says it */ }
  } while (again);
  refreshing = false;
}

function isBusy(part) {
  const files = [...part.querySelectorAll("input[type=file]")].some((input) => input.files.length);
  const texts = [...part.querySelectorAll("textarea, input:not([type])")].some((input) => input.value !== input.defaultValue);
  return files || texts || part.querySelector("[aria-busy]") !== null;
}

function replace(part) {
  const old = document.getElementById(part.id);
  if (!old) {
    insert(part);
  } else if (part.dataset.load) {
    if (old.dataset.position !== part.dataset.position) {
      old.dataset.position = part.dataset.position;
      load(old);
    }
    return;
  } else if (part.querySelector("[data-chart]")) {
    drawAll(old);
    return;
  } else if (old.dataset.html !== part.innerHTML && !isBusy(old)) {
    const open = [...old.querySelectorAll("details[open] > summary")].map((line) => line.textContent);
    const ticked = [...old.querySelectorAll("input:checked")].map((box) => box.value);
    old.innerHTML = part.innerHTML;
    old.dataset.html = part.innerHTML;
    for (const line of old.querySelectorAll("summary")) if (open.includes(line.textContent)) line.parentElement.open = true;
    for (const box of old.querySelectorAll("input[type=checkbox]")) box.checked = ticked.includes(box.value);
    old.classList.remove("fresh");
    void old.offsetWidth;
    old.classList.add("fresh");
  } else return;
  enliven(document.getElementById(part.id));
}

function insert(part) {
  const main = document.getElementById("main");
  const next = [...part.ownerDocument.querySelectorAll(`#${part.id} ~ section[id]`)]
    .map((one) => document.getElementById(one.id)).find(Boolean);
  main.insertBefore(document.adoptNode(part.cloneNode(true)), next ?? null);
  drawAll(document.getElementById(part.id));
}

// -- forms ----------------------------------------------------------------------------------------
function enliven(root) {
  root.querySelectorAll("form.drop").forEach(acceptDrops);
  root.querySelectorAll("form[method=post]").forEach((form) => form.addEventListener("submit", busy));
  root.querySelectorAll("time").forEach(sayAge);
  const compare = root.querySelector("#compare-form") ?? (root.id === "list" ? root.querySelector("form") : null);
  if (compare) { compare.addEventListener("change", () => countTicks(compare)); countTicks(compare); }
}

function acceptDrops(form) {
  const input = form.querySelector("input[type=file]");
  const over = (on) => (event) => { event.preventDefault(); form.classList.toggle("over", on); };
  form.addEventListener("dragover", over(true));
  form.addEventListener("dragleave", over(false));
  form.addEventListener("drop", (event) => {
    over(false)(event);
    if (!event.dataTransfer.files.length) return;
    input.files = event.dataTransfer.files;
    if (form.id === "tell") form.requestSubmit();
  });
}

function busy(event) {
  for (const button of event.target.querySelectorAll("button")) {
    button.setAttribute("aria-busy", "true");
    setTimeout(() => { button.disabled = true; });
  }
  const wait = document.createElement("progress");
  wait.setAttribute("aria-label", "sending");
  event.target.append(wait);
}

function countTicks(form) {
  const ticked = form.querySelectorAll("input:checked").length;
  form.querySelector("button").disabled = ticked !== 2;
}

function sayAge(time) {
  const seconds = (Date.now() - Date.parse(time.dateTime)) / 1000;
  const [unit, size] = [["day", 86400], ["hour", 3600], ["minute", 60]].find(([, size]) => seconds >= size) ?? ["second", 1];
  const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  time.title = time.dateTime;
  time.textContent = words.format(-Math.floor(seconds / size), unit);
}

addEventListener("change", (event) => {
  if (event.target.name !== "show") return;
  const box = event.target.closest("section").querySelector("[data-chart]");
  box.dataset.chart = box.dataset.chart.replace(/show=.*/, `show=${encodeURIComponent(event.target.value)}`);
  draw(box);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawAll(document));

signInByLink();
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
enliven(document);
document.querySelectorAll("[data-load]").forEach(load);
drawAll(document);
listen();
setInterval(() => document.querySelectorAll("time").forEach(sayAge), 30000);
