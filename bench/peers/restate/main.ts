/** A service on Restate: its handler has one durable step that calls the bank. Restate's server takes the requests. */
import { loadConfig } from '../../../src/shared/config.js';
import { createPeerBank, peerTransferBody } from '../call-bank.js';
import { requirePeer } from '../packages.js';

type Context = { run<Output>(name: string, act: () => Promise<Output>): Promise<Output> };
/** The part of the package that this file uses. The bench installs it on demand, so its types are not at hand. */
type Restate = {
  service(settings: {
    name: string;
    handlers: Record<string, (context: Context, body: unknown) => Promise<object>>;
  }): object;
  serve(settings: { services: object[]; port: number }): Promise<number>;
};

// The only part of the package that Node 20 lacks.
Object.assign(Promise, {
  withResolvers() {
    const parts = {};
    const promise = new Promise(
      (resolve, reject) => void Object.assign(parts, { resolve, reject }),
    );
    return { promise, ...parts };
  },
});

const config = loadConfig();
const bank = createPeerBank(config);
const restate = requirePeer('@restatedev/restate-sdk') as Restate;

const transfers = restate.service({
  name: 'transfers',
  handlers: {
    async create(context, body) {
      const request = peerTransferBody.parse(body);
      await context.run('submit', () => bank.submitOrThrow(request));
      return { ...request, status: 'completed' };
    },
  },
});

await restate.serve({ services: [transfers], port: config.http.port });
process.once('SIGTERM', () => process.exit(0));
