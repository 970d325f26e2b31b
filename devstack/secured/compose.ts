import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { packageRoot } from '../../src/shared/package-root.js';

type ComposeService = { command?: string[]; environment?: Record<string, string | number> };

/** A service of docker-compose.yml, so that its own settings are tried without Docker. */
export function composeService(name: string): ComposeService {
  const text = readFileSync(join(packageRoot, 'docker-compose.yml'), 'utf8');
  const { services } = parse(text, { merge: true }) as { services: Record<string, ComposeService> };
  const service = services[name];
  if (service === undefined) throw new Error(`docker-compose.yml has no service ${name}`);
  return service;
}

/** Makes the secrets of docker-compose.yml in a folder. Returns the folder of its certificates. */
export function makeSecrets(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const script = join(packageRoot, 'scripts', 'compose-secrets.sh');
  const { status, stderr } = spawnSync(script, [folder], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`scripts/compose-secrets.sh: ${stderr}`);
  return join(folder, '.compose');
}
