import { connectDatabase } from '../src/platform/database/client.js';
import { createGroupCommit } from '../src/core/commit/group-commit.js';
import { startChild } from './child.js';
import { measureCpu } from './cpu.js';
import type { LoadQuestion } from './http-load.js';
import { answers, environmentOf, type Stack } from './stack.js';
import type { Loop } from './support.js';
import { createRichTenant } from './transfers.js';

/** One run: the clients of the hot wallet, the one of the quiet wallet, and the processor time of everything. */
export type ApisRun = { hot: Loop; quiet: Loop; cpuMs: number; othersShare: number };

/**
 * Starts this many API processes that commit for each other, with Temporal away, and the bank. A hot wallet is served by one of
 * them or by all, over HTTP, and a client of a quiet wallet beside it by the last one. The wallet that one process serves is
 * another one: no transactions of two processes have conflicted about it, so its process forwards nothing.
 */
export async function startApis(stack: Stack, mongod: { uri: string; pid: number }, count: number) {
  const bankPort = await stack.freePort();
  const temporalAddress = `127.0.0.1:${await stack.freePort()}`;
  const at = { mongodbUri: mongod.uri, bankPort, temporalAddress };
  const startApi = async (name: string) => {
    const apiPort = await stack.freePort();
    const { env, config } = environmentOf(stack, { ...at, apiPort });
    const settings = {
      BURSAR_INTERNAL_HOST: '127.0.0.1',
      // Nothing ends here, because Temporal is away.
      BURSAR_MAX_OPEN_TRANSFERS: '100000000',
    };
    const { pid } = stack.node('api', { ...env, ...settings }, name);
    const url = `http://127.0.0.1:${apiPort}`;
    await stack.until(name, () => answers(`${url}/health/ready`));
    return { env, config, url, pid };
  };
  const first = await startApi('api-0');
  stack.node('bank', first.env);
  await stack.until('bank', () => answers(`http://127.0.0.1:${bankPort}/_sandbox/health`));
  const apis = [first];
  while (apis.length < count) apis.push(await startApi(`api-${apis.length}`));

  const database = await connectDatabase(first.config.mongodb, 'bursar-bench-apis');
  const newTenant = () => createRichTenant(first.config, database, createGroupCommit(database));
  const [ofOne, ofAll, quiet] = [await newTenant(), await newTenant(), await newTenant()];
  const load = startChild<LoadQuestion, Loop>('./http-load.js');
  const beside = startChild<LoadQuestion, Loop>('./http-load.js');

  return {
    async run({ processes, ...pace }: { processes: number; clients: number; forMs: number }) {
      const taking = apis.slice(0, processes);
      const urls = taking.map(({ url }) => url);
      const { key } = processes === 1 ? ofOne : ofAll;
      const pids = Object.fromEntries(taking.map(({ pid }, i) => [`api ${i}`, pid]));
      const all = { ...pids, mongod: mongod.pid, load: load.pid, beside: beside.pid };
      const { result, usedMs, othersShare } = await measureCpu(all, () =>
        Promise.all([
          load.request({ urls, key, ...pace }),
          beside.request({ urls: urls.slice(-1), key: quiet.key, clients: 1, forMs: pace.forMs }),
        ]),
      );
      const [ofHot, ofQuiet] = result;
      const used = Object.values<number>(usedMs).reduce((sum, ms) => sum + ms, 0);
      const run: ApisRun = {
        hot: ofHot,
        quiet: ofQuiet,
        cpuMs: used / ofHot.completed,
        othersShare,
      };
      return run;
    },
    async close(): Promise<void> {
      await load.stop();
      await beside.stop();
      await database.client.close();
    },
  };
}
