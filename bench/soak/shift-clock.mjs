/**
 * Loaded into every process of a gateway (`NODE_OPTIONS=--import …`): shifts its wall clock by the milliseconds that
 * stand in the file `SOAK_CLOCK_FILE`. Monotonic time, timers and the database keep the real one.
 */
import { readFileSync } from 'node:fs';

const POLL_MS = 100;
const file = process.env.SOAK_CLOCK_FILE;
const RealDate = Date;
const realNow = Date.now;
let offsetMs = 0;

function readOffset() {
  try {
    offsetMs = Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    // No file: the real time.
  }
}

if (file !== undefined) {
  readOffset();
  setInterval(readOffset, POLL_MS).unref();
  const now = () => realNow() + offsetMs;
  RealDate.now = now;
  // Not a subclass: a date that Node makes itself (of a file) must be an instance of it too.
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, values, newTarget) =>
      Reflect.construct(target, values.length === 0 ? [now()] : values, newTarget),
    apply: () => new RealDate(now()).toString(),
  });
  RealDate.prototype.constructor = globalThis.Date;
}
