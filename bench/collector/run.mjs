// run.mjs - one measured run: starts the sink (core SINK_CORE=0), the target (core TARGET_CORE=1) and the load generator
// (core SINK_CORE), waits until the sink has stopped receiving, prints one JSON line and ends everything it started.
// Usage: node run.mjs LABEL 'env A=1 ./target' [load options KEY=VALUE ...]
//   In the target command {PORT} and {SINK} are replaced by the port to listen on and the sink's base URL.
// Options: MODE='{"status":500}' sink behaviour set before the load; DRAIN=8 seconds to wait at most; COUNT=parts|bytes;
//   SAMPLE=1 adds the RSS every 500 ms; LEVEL3=1 adds what zstd level 3 makes of the same uploads; LOAD=big.mjs another load; TARGET_CORE=1 (or 0,1); CHILDREN=1 sums CPU and RSS over the target's children (cluster).
// Result fields: spansPerS (runs seen by the sink / time from first send until last upload), cpuPer100k (CPU s of the target per
//   100 000 spans), spansPerCpuS, rssMB/hwmMB, uploads, wireMB, decodedMB, lost.
import { spawn } from "node:child_process";
import fs from "node:fs";
import { fileURLToPath } from "node:url";
const dir = fileURLToPath(new URL(".", import.meta.url));
const [label, cmd, ...opts] = process.argv.slice(2);
const o = Object.fromEntries(opts.map((x) => [x.slice(0, x.indexOf("=")), x.slice(x.indexOf("=") + 1)]));
const port = 12000 + Math.floor(Math.random() * 8000),
  sinkPort = port + 9000,
  /* both below the ephemeral range */ sink = `http://127.0.0.1:${sinkPort}`;
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const kids = [];
const start = (core, argv, env, out) => {
  const p = spawn("taskset", ["-c", core, ...argv], {
    env: { ...process.env, ...env },
    stdio: ["ignore", out ?? "ignore", process.env.VERBOSE ? "inherit" : "ignore"],
  });
  kids.push(p);
  return p;
};
const endAll = () => {
  for (const k of kids) if (k.exitCode === null) k.kill("SIGKILL");
};
setTimeout(
  () => {
    console.error("run.mjs: time limit");
    endAll();
    process.exit(1);
  },
  120000 + 1000 * +(o.SECONDS ?? 5),
).unref();
const HZ = 100;
function pids(root) {
  if (o.CHILDREN !== "1") return [root];
  const all = [root];
  try {
    for (const t of fs.readdirSync(`/proc/${root}/task`))
      all.push(...fs.readFileSync(`/proc/${root}/task/${t}/children`, "utf8").split(" ").filter(Boolean).map(Number));
  } catch {}
  return [...new Set(all)];
}
function usage(root) {
  let cpu = 0,
    rss = 0,
    hwm = 0,
    sys = 0;
  for (const p of pids(root))
    try {
      const f = fs.readFileSync(`/proc/${p}/stat`, "utf8");
      const a = f.slice(f.lastIndexOf(")") + 2).split(" ");
      cpu += (+a[11] + +a[12]) / HZ;
      sys += +a[12] / HZ;
      const st = fs.readFileSync(`/proc/${p}/status`, "utf8");
      rss += +/VmRSS:\s+(\d+)/.exec(st)[1] / 1024;
      hwm += +/VmHWM:\s+(\d+)/.exec(st)[1] / 1024;
    } catch {}
  return { cpu, sys, rss, hwm };
}
const stats = async () => (await fetch(sink + "/stats")).json();
try {
  start(o.SINK_CORE ?? "0", [process.execPath, dir + "sink.mjs"], {
    PORT: String(sinkPort),
    COUNT: o.COUNT ?? "parts",
    LEVEL3: o.LEVEL3 ?? "0",
  });
  const target = start(
    o.TARGET_CORE ?? "1",
    ["sh", "-c", "exec " + cmd.replaceAll("{PORT}", port).replaceAll("{SINK}", sink)],
    {},
  );
  for (let i = 0; i < 100; i++) {
    try {
      await stats();
      const r = await fetch(`http://127.0.0.1:${port}/live`, { headers: { "x-api-key": "k" } });
      if (r.status) break;
    } catch {}
    await sleep(100);
  }
  if (o.MODE) await fetch(sink + "/mode", { method: "POST", body: o.MODE });
  if (o.WARM !== "0") {
    const w = start(
      o.SINK_CORE ?? "0",
      [process.execPath, dir + "load.mjs", ...opts, "PORT=" + port, "RATE=0", "SECONDS=" + (o.WARM ?? 1.5)],
      {},
    );
    await new Promise((r) => w.on("exit", r));
    // What the warm-up sent must not be taken for what the load sends.
    for (let i = 0, last = -1, same = 0; i < 40 && same < 5; i++) {
      await sleep(300);
      const { runs } = await stats();
      same = runs === last ? same + 1 : 0;
      last = runs;
    }
  }
  const s0 = await stats(),
    u0 = usage(target.pid),
    t0 = Date.now(),
    samples = [];
  const timer = o.SAMPLE === "1" ? setInterval(() => samples.push(Math.round(usage(target.pid).rss)), 500) : null;
  const l = start(
    o.SINK_CORE ?? "0",
    [process.execPath, dir + (o.LOAD ?? "load.mjs"), ...opts, "PORT=" + port],
    {},
    "pipe",
  );
  let out = "";
  l.stdout.on("data", (d) => {
    out += d;
  });
  await new Promise((r) => l.on("exit", r));
  const load = JSON.parse(out);
  let s1 = await stats();
  for (let i = 0, last = -1; i < (o.DRAIN ?? 8) * 4 && (s1.runs - s0.runs < load.ackSpans || last !== s1.runs); i++) {
    last = s1.runs;
    await sleep(250);
    s1 = await stats();
  }
  clearInterval(timer);
  const u1 = usage(target.pid);
  const gone = new Promise((r) => target.on("exit", r));
  target.kill("SIGTERM");
  await Promise.race([gone, sleep(15000)]);
  s1 = await stats(); // what was parked or buffered comes out on a clean stop
  const runs = s1.runs - s0.runs,
    secs = (Math.max(s1.last, t0) - t0) / 1000 || load.wall,
    n = runs || load.ackSpans;
  console.log(
    JSON.stringify({
      label,
      ackSpansPerS: load.spansPerS,
      runs,
      spansPerS: Math.round(runs / secs),
      cpuPer100k: +(((u1.cpu - u0.cpu) / n) * 1e5).toFixed(2),
      sysPer100k: +(((u1.sys - u0.sys) / n) * 1e5).toFixed(2),
      spansPerCpuS: Math.round(n / (u1.cpu - u0.cpu)),
      rssMB: Math.round(u1.rss),
      hwmMB: Math.round(u1.hwm),
      uploads: s1.requests - s0.requests,
      wireMB: +((s1.wire - s0.wire) / 1e6).toFixed(1),
      level3MB: +((s1.level3 - s0.level3) / 1e6).toFixed(2),
      decodedMB: +((s1.decoded - s0.decoded) / 1e6).toFixed(1),
      inMB: load.rawMB,
      lost: load.ackSpans - runs,
      bad: s1.bad,
      status: load.status,
      errors: load.errors,
      p50: load.p50,
      p99: load.p99,
      max: load.max,
      senderCpu: load.senderCpu,
      ...(timer ? { samples } : {}),
      cpuS: +(u1.cpu - u0.cpu).toFixed(2),
    }),
  );
} finally {
  endAll();
}
