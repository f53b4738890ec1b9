// Pages in Chromium, in light and in dark, wide and narrow: check.js FILE ... Looks with axe-core for what people without a mouse or without
// good eyes cannot use, for messages on the console, for requests, and for pages wider than the screen. SHOTS=FOLDER: pictures of them.
// Ends with "N passed, N failed". tests/pages/run.sh installs what it needs.
const puppeteer = require("puppeteer-core"), fs = require("fs"), path = require("path")
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8")
const LOOKS = [["light", 1200, 900], ["dark", 1200, 900], ["light", 390, 844], ["dark", 390, 844]]

async function look(browser, file, scheme, width, height) {
  const page = await browser.newPage(), wrong = []
  page.on("console", m => { if (["error", "warning"].includes(m.type())) wrong.push("console: " + m.text()) })
  page.on("pageerror", e => wrong.push("console: " + e))
  page.on("request", r => { if (!/^(file|data):/.test(r.url())) wrong.push("request: " + r.url()) })
  await page.setViewport({width, height})
  await page.emulateMediaFeatures([{name: "prefers-color-scheme", value: scheme}])
  const began = Date.now()
  await page.goto("file://" + path.resolve(file), {waitUntil: "load"})
  const took = Date.now() - began
  if (await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth)) wrong.push("wider than the screen")
  if (process.env.SHOTS) await page.screenshot({path: path.join(process.env.SHOTS, `${path.basename(file, ".html")}-${scheme}-${width}.png`)})
  await page.evaluate(() => { if (document.querySelectorAll("tr").length < 300) document.querySelectorAll("details").forEach(d => d.open = true) })
  await page.evaluate(axe)
  for (const v of (await page.evaluate(() => axe.run())).violations) wrong.push(`${v.id}: ${v.help}: ${v.nodes[0].html.slice(0, 200)}`)
  await page.close()
  console.log(`${file}, ${scheme}, ${width}: ${took} ms${wrong.map(w => "\n  not so: " + w).join("")}`)
  return wrong.length
}

(async () => {
  const browser = await puppeteer.launch({executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]})
  let passed = 0, failed = 0
  for (const file of process.argv.slice(2))
    for (const [scheme, width, height] of LOOKS) {
      const wrong = await look(browser, file, scheme, width, height)
      failed += wrong > 0
      passed += wrong === 0
    }
  await browser.close()
  console.log(`${passed} passed, ${failed} failed`)
  process.exit(failed > 0)
})()
