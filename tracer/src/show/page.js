"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const lanes = data.lanes;
  const element = (id) => document.getElementById(id);
  const canvas = element("canvas"), pen = canvas.getContext("2d");
  const ROW = 18, RULER = 22, GAP = 4;
  const COLORS = { call: "#6b8fb8", wait: "#d9534f", failed: "#b0229c", unreturned: "#222", kernel: "#3a9d5d", copy: "#d08a1d", fill: "#8f7a3a", other: "#7c6bb8", captured: "#999" };
  const LEGEND = { call: "call", wait: "call that waits for the device", failed: "call that failed", unreturned: "call that never returned", kernel: "kernel", copy: "copy", fill: "fill", other: "other work", captured: "captured into a graph" };

  // --- what there is ---
  let end = 1e-3, top = RULER;
  lanes.forEach((lane) => {
    lane.top = top;
    lane.height = lane.rows * ROW + GAP;
    top += lane.height;
    for (let i = 0; i < lane.start.length; i++) end = Math.max(end, lane.start[i] + lane.time[i]);
    // The longest bar says how far back a search for what is visible has to begin.
    lane.longest = lane.time.reduce((a, b) => Math.max(a, b), 0);
  });
  const label = (lane, i) => data.names[lane.name_of[i]];
  const kind = (lane, i) => data.kinds[lane.kind_of[i]];
  const text = (lane, i) => (lane.text ? lane.text[i] : label(lane, i));
  const time = (us) => us < 1 ? (us * 1e3).toFixed(0) + " ns" : us < 1e3 ? us.toFixed(1) + " µs" : us < 1e6 ? (us / 1e3).toFixed(2) + " ms" : (us / 1e6).toFixed(3) + " s";

  // --- what is shown of it ---
  const view = { from: 0, to: end };
  let selected = null, matches = null, matching = new Set(), current = -1;
  const width = () => canvas.clientWidth;
  const x_of = (at) => (at - view.from) / (view.to - view.from) * width();
  const at_of = (x) => view.from + x / width() * (view.to - view.from);
  function show(from, to) {
    const least = 0.01, span = Math.min(Math.max(to - from, least), end * 1.04);
    from = Math.min(Math.max(from, -end * 0.02), end * 1.02 - span);
    view.from = from;
    view.to = from + span;
    request();
  }
  const whole = () => show(-end * 0.01, end * 1.01);
  function zoom(factor, x) {
    const at = at_of(x);
    show(at - (at - view.from) * factor, at + (view.to - at) * factor);
  }
  let requested = false;
  function request() {
    if (!requested) { requested = true; requestAnimationFrame(() => { requested = false; draw(); }); }
  }
  // The first bar that can be visible from a time on.
  function first(lane, from) {
    let low = 0, high = lane.start.length;
    const wanted = from - lane.longest;
    while (low < high) { const middle = (low + high) >> 1; if (lane.start[middle] < wanted) low = middle + 1; else high = middle; }
    return low;
  }
  let stripes = null;
  function pattern() {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 6;
    const ink = tile.getContext("2d");
    ink.strokeStyle = "#fff8";
    ink.lineWidth = 2;
    ink.beginPath();
    ink.moveTo(-1, 7); ink.lineTo(7, -1);
    ink.stroke();
    return pen.createPattern(tile, "repeat");
  }
  function draw() {
    const ratio = window.devicePixelRatio || 1, wide = width();
    canvas.style.height = top + "px";
    if (canvas.width !== Math.round(wide * ratio) || canvas.height !== Math.round(top * ratio)) {
      canvas.width = Math.round(wide * ratio);
      canvas.height = Math.round(top * ratio);
      stripes = null;
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, wide, top);
    stripes = stripes || pattern();
    const ink = getComputedStyle(document.body).color;
    ruler(wide, ink);
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    lanes.forEach((lane, l) => {
      pen.fillStyle = "#8884";
      pen.fillRect(0, lane.top + lane.height - 1, wide, 1);
      const drawn = new Float64Array(lane.rows).fill(-1);
      for (let i = first(lane, view.from); i < lane.start.length && lane.start[i] <= view.to; i++) {
        const from = x_of(lane.start[i]), to = x_of(lane.start[i] + lane.time[i]), row = lane.row[i];
        if (to < 0) continue;
        const is_match = matching.has(l * 1e9 + i), is_selected = selected && selected[0] === l && selected[1] === i;
        // What would cover no pixel of its own is not drawn again.
        if (to < drawn[row] && !is_match && !is_selected) continue;
        const left = Math.max(from, -1), right = Math.max(Math.min(to, wide + 1), left + 1), y = lane.top + row * ROW + 1;
        pen.globalAlpha = matches && !is_match ? 0.25 : 1;
        pen.fillStyle = COLORS[kind(lane, i)];
        pen.fillRect(left, y, right - left, ROW - 2);
        if (lane.is_stream && !lane.measured[i] && right - left > 3) { pen.fillStyle = stripes; pen.fillRect(left, y, right - left, ROW - 2); }
        if (right - left > 30) {
          pen.save();
          pen.beginPath(); pen.rect(left, y, right - left, ROW - 2); pen.clip();
          pen.fillStyle = "#fff";
          pen.strokeStyle = "#0009"; pen.lineWidth = 2;
          pen.strokeText(label(lane, i), left + 3, y + ROW / 2 - 1);
          pen.fillText(label(lane, i), left + 3, y + ROW / 2 - 1);
          pen.restore();
        }
        pen.globalAlpha = 1;
        if (is_selected) { pen.strokeStyle = ink; pen.lineWidth = 2; pen.strokeRect(left, y, right - left, ROW - 2); }
        drawn[row] = Math.max(Math.floor(right), drawn[row]);
      }
    });
    if (selected) links(ink);
  }
  function ruler(wide, ink) {
    const step_wanted = (view.to - view.from) / Math.max(wide / 110, 1);
    let step = Math.pow(10, Math.floor(Math.log10(step_wanted)));
    step *= step_wanted / step > 5 ? 10 : step_wanted / step > 2 ? 5 : step_wanted / step > 1 ? 2 : 1;
    pen.fillStyle = ink;
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "alphabetic";
    for (let at = Math.max(Math.ceil(view.from / step) * step, 0); at <= view.to; at += step) {
      const x = x_of(at);
      pen.globalAlpha = 0.15; pen.fillRect(x, 0, 1, top); pen.globalAlpha = 1;
      pen.fillText(time(at), x + 3, 14);
    }
  }
  // Lines between a bar, the call that queued it, and the work that it waited for.
  function others([l, i]) {
    const lane = lanes[l], list = [];
    if (lane.is_stream) list.push([lane.call_lane[i], lane.call_bar[i]]);
    else if (lane.waits[i]) list.push(lane.waits[i]);
    if (!lane.is_stream && lane.queued[i]) list.push(lane.queued[i]);
    return list;
  }
  function links(ink) {
    const middle = ([l, i], at_end) => [x_of(lanes[l].start[i] + (at_end ? lanes[l].time[i] : 0)), lanes[l].top + lanes[l].row[i] * ROW + ROW / 2];
    pen.strokeStyle = ink;
    pen.lineWidth = 1;
    for (const other of others(selected)) {
      const waits = !lanes[selected[0]].is_stream && lanes[selected[0]].waits[selected[1]] === other;
      const [x1, y1] = middle(selected, waits), [x2, y2] = middle(other, waits);
      pen.beginPath(); pen.moveTo(x1, y1); pen.lineTo(x2, y2); pen.stroke();
    }
  }

  // --- details ---
  function hit(x, y) {
    const l = lanes.findIndex((lane) => y >= lane.top && y < lane.top + lane.height);
    if (l < 0) return null;
    const lane = lanes[l], row = Math.floor((y - lane.top) / ROW), at = at_of(x), near = (view.to - view.from) / width() * 2;
    let best = null, distance = Infinity;
    for (let i = first(lane, at - near); i < lane.start.length && lane.start[i] <= at + near; i++) {
      if (lane.row[i] !== row || lane.start[i] + lane.time[i] < at - near) continue;
      const away = Math.max(lane.start[i] - at, at - lane.start[i] - lane.time[i], 0);
      if (away <= distance) { best = [l, i]; distance = away; }
    }
    return best;
  }
  function select(bar) {
    selected = bar;
    if (!bar) { element("details").textContent = "Click a bar."; request(); return; }
    const [l, i] = bar, lane = lanes[l], from = lane.start[i];
    let said = text(lane, i) + "\n" + LEGEND[kind(lane, i)] + " on " + lane.name + ", from " + time(from) + " for " + time(lane.time[i]);
    if (lane.is_stream) said += "\n" + data.certainties[lane.certainty[i]];
    for (const [ol, oi] of others(bar)) {
      const other = lanes[ol];
      said += "\n" + (lane.is_stream ? "queued by " : lane.waits[i] && lane.waits[i][0] === ol && lane.waits[i][1] === oi ? "waited for " : "queued ") + text(other, oi) + " (" + other.name + ")";
    }
    element("details").textContent = said;
    request();
  }
  function go_to([l, i]) {
    const lane = lanes[l], span = Math.max(lane.time[i] * 6, (view.to - view.from) / 4, 0.05);
    const middle = lane.start[i] + lane.time[i] / 2;
    show(middle - span / 2, middle + span / 2);
    select([l, i]);
    const main = document.querySelector("main");
    if (lane.top < main.scrollTop || lane.top + lane.height > main.scrollTop + main.clientHeight) main.scrollTop = Math.max(lane.top - 60, 0);
  }

  // --- search ---
  function search(words) {
    words = words.trim().toLowerCase();
    matches = null;
    matching = new Set();
    current = -1;
    if (words) {
      matches = [];
      lanes.forEach((lane, l) => {
        for (let i = 0; i < lane.start.length; i++) {
          if (label(lane, i).toLowerCase().includes(words) || text(lane, i).toLowerCase().includes(words)) matches.push([l, i]);
        }
      });
      matches.sort((a, b) => lanes[a[0]].start[a[1]] - lanes[b[0]].start[b[1]]);
      matches.forEach(([l, i]) => matching.add(l * 1e9 + i));
    }
    tell();
    request();
  }
  function tell() {
    element("found").textContent = !matches ? "" : matches.length === 0 ? "nothing found" : (current < 0 ? "" : current + 1 + " of ") + matches.length + " found";
  }
  function step(by) {
    if (!matches || !matches.length) return;
    current = current < 0 ? (by > 0 ? 0 : matches.length - 1) : (current + by + matches.length) % matches.length;
    tell();
    go_to(matches[current]);
  }

  // --- tables and names ---
  function cell(row, content, is_text) {
    const made = row.insertCell();
    made.textContent = content;
    if (is_text) made.className = "text";
  }
  data.totals.forEach(([name, total, calls, longest, failed, waits]) => {
    const row = element("totals").tBodies[0].insertRow();
    [name, time(total), calls, time(total / calls), time(longest), failed || ""].forEach((content) => cell(row, content));
    cell(row, waits ? "waits for the device" : "", true);
    row.onclick = () => { element("search").value = name; search(name); };
  });
  const waits = [];
  lanes.forEach((lane, l) => { if (!lane.is_stream) for (const i of Object.keys(lane.waits)) waits.push([l, +i]); });
  waits.sort((a, b) => lanes[b[0]].time[b[1]] - lanes[a[0]].time[a[1]]);
  waits.slice(0, 50).forEach((bar) => {
    const lane = lanes[bar[0]], work = lane.waits[bar[1]], stream = lanes[work[0]];
    const row = element("waits").tBodies[0].insertRow();
    [label(lane, bar[1]), time(lane.start[bar[1]]), time(lane.time[bar[1]])].forEach((content) => cell(row, content));
    cell(row, label(stream, work[1]), true);
    cell(row, stream.name, true);
    row.onclick = () => go_to(bar);
  });
  element("waited").hidden = waits.length === 0;
  lanes.forEach((lane) => {
    const name = document.createElement("div");
    name.style.height = lane.height + "px";
    name.textContent = lane.name + " ";
    name.title = lane.name + ", " + lane.group;
    const group = document.createElement("span");
    group.className = "group";
    group.textContent = lane.group;
    name.append(group);
    element("names").append(name);
  });
  const used = new Set(lanes.flatMap((lane) => [...new Set(lane.kind_of)].map((k) => data.kinds[k])));
  for (const [name, words] of Object.entries(LEGEND)) {
    if (!used.has(name)) continue;
    const item = document.createElement("span"), color = document.createElement("i");
    color.style.background = COLORS[name];
    item.append(color, words);
    element("legend").append(item);
  }
  if (lanes.some((lane) => lane.is_stream && lane.measured.includes(0))) {
    const item = document.createElement("span");
    item.textContent = "striped: the device's work lies somewhere within, not measured";
    element("legend").append(item);
  }
  element("summary").textContent = data.summary;

  // --- the user ---
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const by = (event.deltaX || event.deltaY) / width() * (view.to - view.from);
      show(view.from + by, view.to + by);
    } else zoom(Math.exp(event.deltaY / 400), event.offsetX);
  }, { passive: false });
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => { drag = { x: event.offsetX, from: view.from, to: view.to, moved: false }; canvas.setPointerCapture(event.pointerId); canvas.focus(); });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) {
      const bar = hit(event.offsetX, event.offsetY);
      canvas.title = bar ? text(lanes[bar[0]], bar[1]) + ", " + time(lanes[bar[0]].time[bar[1]]) : "";
      return;
    }
    const by = (event.offsetX - drag.x) / width() * (drag.to - drag.from);
    drag.moved = drag.moved || Math.abs(event.offsetX - drag.x) > 3;
    if (drag.moved) show(drag.from - by, drag.to - by);
  });
  canvas.addEventListener("pointerup", (event) => { if (drag && !drag.moved) select(hit(event.offsetX, event.offsetY)); drag = null; });
  canvas.addEventListener("dblclick", (event) => {
    const bar = hit(event.offsetX, event.offsetY);
    if (bar) { const lane = lanes[bar[0]], from = lane.start[bar[1]], span = Math.max(lane.time[bar[1]], 0.05); show(from - span / 4, from + span * 1.25); }
  });
  element("search").addEventListener("input", (event) => search(event.target.value));
  element("search").addEventListener("keydown", (event) => { if (event.key === "Enter") step(event.shiftKey ? -1 : 1); });
  element("next").onclick = () => step(1);
  element("previous").onclick = () => step(-1);
  element("all").onclick = whole;
  canvas.addEventListener("keydown", (event) => {
    const span = view.to - view.from, by = span / 5;
    const keys = { w: () => zoom(0.7, width() / 2), s: () => zoom(1 / 0.7, width() / 2), a: () => show(view.from - by, view.to - by), d: () => show(view.from + by, view.to + by), 0: whole, ArrowLeft: () => show(view.from - by, view.to - by), ArrowRight: () => show(view.from + by, view.to + by), Escape: () => select(null) };
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
  window.addEventListener("resize", request);
  whole();
  // For tests and the curious.
  window.timeline = { data, view, show, hit, select, go_to, x_of, selected: () => selected };
})();
