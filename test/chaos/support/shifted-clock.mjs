// Loaded before everything else: what the process takes for the time of day is as many milliseconds ahead as the file
// says that CLOCK_FILE names, from one moment to the next. Timers are not concerned, as they are not when the
// clock of a machine is set. Native code, Temporal's core for one, has the right time.
import { readFileSync } from 'node:fs';

const Right = Date;
let aheadMs = 0;

function read() {
  try {
    aheadMs = Number(readFileSync(process.env.CLOCK_FILE, 'utf8'));
  } catch {
    aheadMs = 0;
  }
}
read();
setInterval(read, 50).unref();

const now = () => Right.now() + aheadMs;

globalThis.Date = new Proxy(Right, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  apply: () => new Right(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
