// The page of a traced program (tests/client.c) in a browser: lanes, tables, search, zoom, and what a click tells.
//
//     node page.mjs PAGE [SCREENSHOT]
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import chromium from "@sparticuz/chromium";
import puppeteer from "puppeteer-core";

const [file, screenshot] = process.argv.slice(2);
const browser = await puppeteer.launch({ args: chromium.args, executablePath: await chromium.executablePath(), headless: "shell" });
const page = await browser.newPage();
const troubles = [], requests = [];
page.on("console", (message) => troubles.push(message.text()));
page.on("pageerror", (error) => troubles.push(error.message));
page.on("request", (request) => requests.push(request.url()));
await page.setViewport({ width: 1300, height: 900 });
const address = pathToFileURL(file).href;

const frame = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
const text = (selector) => page.$eval(selector, (found) => found.textContent);
const texts = (selector) => page.$$eval(selector, (found) => found.map((one) => one.textContent));
const view = () => page.evaluate(() => ({ ...timeline.view }));
// The middle of a bar, in pixels of the window, and what is drawn there.
const place = (lane, bar) => page.evaluate(([l, i]) => {
  const lane = timeline.data.lanes[l], box = document.getElementById("canvas").getBoundingClientRect();
  const x = timeline.x_of(lane.start[i] + lane.time[i] / 2), y = lane.top + lane.row[i] * 18 + 4;
  const pixel = [...document.getElementById("canvas").getContext("2d").getImageData(x * devicePixelRatio, y * devicePixelRatio, 1, 1).data];
  return { x: box.left + x, y: box.top + y, pixel };
}, [lane, bar]);

let passed = 0, failed = 0;
async function test(name, body) {
  try {
    await page.goto(address);
    await frame();
    await body();
    passed++;
    console.log(`ok: ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAILED: ${name}\n${error.stack}`);
  }
}

const lanes = () => page.evaluate(() => timeline.data.lanes.map((lane) => ({ name: lane.name, is_stream: lane.is_stream, bars: lane.start.length, labels: lane.name_of.map((name) => timeline.data.names[name]) })));

await test("a lane per thread and stream, with its bars", async () => {
  const all = await lanes();
  assert.deepEqual(all.map((lane) => lane.is_stream), [false, true, true, true]);
  assert.match(all[0].name, /^thread \d+ client/);
  assert.deepEqual(all.slice(1).map((lane) => lane.name), ["stream 1", "stream 2", "default stream"]);
  assert.deepEqual(all[1].labels, ["copy to device, 128 B", "twice"]);
  assert.deepEqual(all[2].labels, ["twice", "copy to host, 128 B"]);
  const names = await texts("#names div");
  assert.equal(names.length, 4);
  assert.match(names[1], /^stream 1 of process \d+$/);
  assert.match(await text("h1"), /client dlsym return$/);
  assert.match(await text("#summary"), /^\d+ calls of 1 thread took .* waiting for 3 streams$/);
});

await test("what kept the host, and what it waited for", async () => {
  const rows = await texts("#totals tbody tr");
  assert.ok(rows.some((row) => /^cuStreamSynchronize.*waits for the device$/.test(row)), rows.join("\n"));
  assert.ok(rows.some((row) => row.startsWith("cuLaunchKernel") && !row.includes("waits")));
  const waits = await page.$$eval("#waits tbody tr", (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
  const told = waits.map(([wait, , , work, stream]) => `${wait}: ${work} on ${stream}`).sort();
  assert.deepEqual(told, ["cuEventSynchronize: twice on stream 1", "cuStreamSynchronize: copy to host, 128 B on stream 2"]);
  await page.click("#waits tbody tr");
  assert.match(await text("#details"), /Synchronize\([\s\S]*\nwaited for (twice|copy to host)/);
});

await test("bars are drawn in the color of their kind", async () => {
  await page.evaluate(() => timeline.go_to([1, 1]));
  await frame();
  const { pixel } = await place(1, 1);
  // Green, with stripes of white above it where nothing was measured.
  assert.ok(pixel[3] === 255 && pixel[1] > pixel[0] && pixel[1] > pixel[2], `${pixel}`);
});

await test("a click tells the call, its arguments and what it is about", async () => {
  await page.evaluate(() => timeline.go_to([1, 1]));
  await page.evaluate(() => timeline.select(null));
  await frame();
  const { x, y } = await place(1, 1);
  await page.mouse.click(x, y);
  const said = await text("#details");
  assert.match(said, /^twice\nkernel on stream 1, from .* for /);
  assert.match(said, /not measured\nqueued by cuLaunchKernel\(f: 0x[0-9a-f]+, gridDimX: 1, .*blockDimX: 32/);
  await page.mouse.click(x, 5 + (await page.$eval("#canvas", (canvas) => canvas.getBoundingClientRect().top)));
  assert.equal(await text("#details"), "Click a bar.");
});

await test("search finds calls by name and argument, and goes from one to the next", async () => {
  const before = await view();
  await page.type("#search", "TWICE");
  // Two kernels, and the call that got it by its name.
  assert.equal(await text("#found"), "3 found");
  await page.keyboard.press("Enter");
  assert.equal(await text("#found"), "1 of 3 found");
  assert.match(await text("#details"), /^cuModuleGetFunction\(.*name: "twice"\) -> 0x/);
  const after = await view();
  assert.ok(after.to - after.from < (before.to - before.from) / 2, "it zooms to what it found");
  await page.click("#next");
  await page.click("#next");
  assert.equal(await text("#found"), "3 of 3 found");
  await page.click("#next");
  assert.equal(await text("#found"), "1 of 3 found");
  await page.click("#previous");
  assert.equal(await text("#found"), "3 of 3 found");
  await page.$eval("#search", (input) => { input.value = ""; });
  await page.type("#search", "12345");
  assert.equal(await text("#found"), "1 found");
  await page.keyboard.press("Enter");
  assert.match(await text("#details"), /-> CUDA_ERROR_INVALID_DEVICE\ncall that failed/);
  await page.type("#search", "x");
  assert.equal(await text("#found"), "nothing found");
});

await test("wheel, keys, dragging and the button change what is shown", async () => {
  const box = await page.$eval("#canvas", (canvas) => { const { left, top, width } = canvas.getBoundingClientRect(); return { left, top, width }; });
  const whole = await view();
  const x = box.width / 4, at = whole.from + (whole.to - whole.from) / 4;
  await page.mouse.move(box.left + x, box.top + 30);
  await page.mouse.wheel({ deltaY: -400 });
  await frame();
  let now = await view();
  const zoomed = (now.to - now.from) / (whole.to - whole.from);
  assert.ok(Math.abs(zoomed - Math.exp(-1)) < 0.01, `${zoomed}`);
  assert.ok(Math.abs(now.from + (now.to - now.from) / 4 - at) < (whole.to - whole.from) / 500, "it stays under the pointer");
  await page.mouse.down();
  await page.mouse.move(box.left + x - 100, box.top + 30, { steps: 4 });
  await page.mouse.up();
  const moved = await view();
  assert.ok(Math.abs((moved.from - now.from) / (now.to - now.from) - 100 / box.width) < 0.01);
  await page.keyboard.press("w");
  now = await view();
  assert.ok(now.to - now.from < moved.to - moved.from);
  await page.keyboard.press("d");
  assert.ok((await view()).from > now.from);
  await page.click("#all");
  assert.deepEqual(await view(), whole);
});

await test("a click on a row of the totals looks for the function", async () => {
  await page.$$eval("#totals tbody tr", (rows) => rows.find((row) => row.cells[0].textContent === "cuLaunchKernel").click());
  assert.equal(await page.$eval("#search", (input) => input.value), "cuLaunchKernel");
  assert.equal(await text("#found"), "2 found");
});

await test("it fits a narrow window and loads nothing", async () => {
  await page.setViewport({ width: 500, height: 700 });
  await frame();
  assert.ok(await page.evaluate(() => document.getElementById("canvas").clientWidth < 500));
  await page.setViewport({ width: 1300, height: 900 });
  assert.ok(requests.length > 0 && requests.every((url) => url === address), requests.join("\n"));
  assert.deepEqual(troubles, []);
});

if (screenshot) {
  await page.evaluate(() => timeline.go_to([1, 1]));
  await frame();
  await page.screenshot({ path: screenshot });
}
await browser.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
