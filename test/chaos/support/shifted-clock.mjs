// Loaded before the process's own code: shifts the time of day by the milliseconds in the file that CLOCK_FILE names, with
// immediate effect. Timers are not shifted, as with a machine's clock. Native code, such as Temporal's core, has the right
// time.
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
