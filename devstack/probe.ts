import { spawnSync } from 'node:child_process';
import { RELEASES, wheelOf, type EngineName } from './releases.js';

/** Libraries that the mongod wheel needs, by their names in Debian and Ubuntu. */
const MONGOD_LIBRARIES = 'libcurl4 libssl3 liblzma5';

/** Runs `<binary> --version`. Throws a message for the user if it does not run here or is too old. */
export function probe(engine: EngineName, binary: string): string {
  // The test server has no --version; its usage text is enough proof that it runs.
  const args = engine === 'temporal-test-server' ? ['--help'] : ['--version'];
  const result = spawnSync(binary, args, { encoding: 'utf8', timeout: 20_000 });
  const output = `${result.stdout ?? ''}\n${result.stderr ?? ''}`;
  if (result.error) throw new Error(`${binary} does not run: ${result.error.message}`);

  const library = /error while loading shared libraries: ([^:\s]+)/.exec(output)?.[1];
  if (library !== undefined) {
    throw new Error(
      `${binary} needs ${library}, which this system lacks` +
        (engine === 'mongod' ? ` (Debian, Ubuntu: apt-get install ${MONGOD_LIBRARIES})` : ''),
    );
  }
  if (engine === 'temporal-test-server') return wheelOf(engine)?.version ?? '';

  const version = /version v?(\d+)\.(\d+)\.(\d+)/.exec(output);
  if (result.status !== 0 || version === null) {
    const said = output.trim().split('\n')[0] ?? '';
    throw new Error(`${binary} --version ended with ${result.status ?? result.signal}: ${said}`);
  }
  const [, major = '0', minor = '0', patch = '0'] = version;
  const [oldestMajor, oldestMinor] = RELEASES[engine].oldest;
  const [a, b] = [Number(major), Number(minor)];
  if (a < oldestMajor || (a === oldestMajor && b < oldestMinor)) {
    throw new Error(
      `${binary} is ${major}.${minor}.${patch}; ${oldestMajor}.${oldestMinor} or later is needed`,
    );
  }
  return `${major}.${minor}.${patch}`;
}
