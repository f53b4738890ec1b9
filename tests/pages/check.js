// Pages in Chromium, in light and in dark, wide and narrow: check.js FILE ... Looks with axe-core for what people without a mouse or without
// good eyes cannot use, for messages on the console, for requests, for pages wider than the screen, and that a page can be used within a
// second: shown, and all of its folded parts opened, in time of the processor, as other work on the machine is none of the page's (what the
// clock said stands beside it). Of a table axe-core sees the first ROWS rows, which are of one kind. SHOTS=FOLDER: pictures of them.
// Ends with "N passed, N failed", also where Chromium ends early: a page that it did not look at has failed. tests/pages/run.sh installs what
// it needs.
const puppeteer = require("puppeteer-core"), fs = require("fs"), path = require("path")
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8")
const LOOKS = [["light", 1200, 900], ["dark", 1200, 900], ["light", 390, 844], ["dark", 390, 844]]
const ROWS = 100, USABLE = 1000, PATIENCE = 600000 // milliseconds

const launch = () => puppeteer.launch({executablePath: process.env.CHROMIUM || "/usr/bin/chromium", timeout: PATIENCE, protocolTimeout: PATIENCE,
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]})

// Milliseconds of the processor that the page's own thread has taken so far.
const worked = async client => 1000 * (await client.send("Performance.getMetrics")).metrics.find(m => m.name === "TaskDuration").value

// Milliseconds, of the clock and of the processor, until something is done and shown.
async function timed(page, client, what) {
  const before = await worked(client), began = Date.now()
  await what()
  await page.evaluate(() => new Promise(done => requestAnimationFrame(() => setTimeout(done))))
  return [Date.now() - began, await worked(client) - before].map(Math.round)
}

async function look(browser, file, scheme, width, height) {
  const page = await browser.newPage(), wrong = [], client = await page.createCDPSession()
  page.setDefaultTimeout(PATIENCE)
  page.on("console", m => { if (["error", "warning"].includes(m.type())) wrong.push("console: " + m.text()) })
  page.on("pageerror", e => wrong.push("console: " + e))
  page.on("request", r => { if (!/^(file|data):/.test(r.url())) wrong.push("request: " + r.url()) })
  await page.setViewport({width, height})
  await page.emulateMediaFeatures([{name: "prefers-color-scheme", value: scheme}])
  await client.send("Performance.enable", {timeDomain: "threadTicks"})
  const shown = await timed(page, client, () => page.goto("file://" + path.resolve(file), {waitUntil: "load"}))
  if (await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth)) wrong.push("wider than the screen")
  if (process.env.SHOTS) await page.screenshot({path: path.join(process.env.SHOTS, `${file.replace(/\.html$/, "").replace(/\//g, "-")}-${scheme}-${width}.png`)})
  const opened = await timed(page, client, () => page.evaluate(() => document.querySelectorAll("details").forEach(d => d.open = true)))
  if (shown[1] > USABLE) wrong.push(`${shown[1]} ms of the processor until it is shown`)
  if (opened[1] > USABLE) wrong.push(`${opened[1]} ms of the processor until all of it is open`)
  const rows = await page.evaluate(most => {
    const more = document.querySelectorAll(`tbody > tr:nth-child(n + ${most + 1})`)
    more.forEach(row => row.remove())
    return more.length
  }, ROWS)
  await page.evaluate(axe)
  for (const v of (await page.evaluate(() => axe.run())).violations) wrong.push(`${v.id}: ${v.help}: ${v.nodes[0].html.slice(0, 200)}`)
  await page.close()
  console.log(`${file}, ${scheme}, ${width}: shown in ${shown[0]} ms (${shown[1]} of the processor), open in ${opened[0]} (${opened[1]})` +
    (rows ? `, ${rows} rows not looked at by axe-core` : "") + wrong.map(w => "\n  not so: " + w).join(""))
  return wrong.length
}

(async () => {
  let browser = await launch(), passed = 0, failed = 0
  for (const file of process.argv.slice(2))
    for (const [scheme, width, height] of LOOKS) {
      let wrong = 1
      for (let tries = 2; tries > 0; tries--)
        try {
          wrong = await look(browser, file, scheme, width, height)
          tries = 0
        } catch (e) { // a machine that stands still for long makes Chromium give its page up
          console.log(`${file}, ${scheme}, ${width}: ${tries > 1 ? "once more" : "\n  not so: it can be looked at"}: ${e.message}`)
          await browser.close().catch(() => {})
          browser = await launch()
        }
      failed += wrong > 0
      passed += wrong === 0
    }
  await browser.close()
  console.log(`${passed} passed, ${failed} failed`)
  process.exit(failed > 0 ? 1 : 0)
})()
