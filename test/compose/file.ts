import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { packageRoot } from '../../src/shared/package-root.js';

/** A service of docker-compose.yml. */
export type Service = {
  image: string;
  build?: string;
  command?: string[];
  entrypoint?: string[];
  restart: string;
  user?: string;
  read_only?: boolean;
  tmpfs?: string[];
  cap_drop?: string[];
  security_opt?: string[];
  secrets?: string[];
  ports?: string[];
  environment?: Record<string, string | number>;
  networks: string[];
  volumes?: string[];
  configs?: { source: string; target: string }[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
};

/** The parts of docker-compose.yml that the tests read. */
export type ComposeFile = {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean } | null>;
  volumes: Record<string, unknown>;
  configs: Record<string, { file: string }>;
  secrets: Record<string, { file: string }>;
};

/** The text of a file in the repository's root. */
export function readRoot(name: string): string {
  return readFileSync(join(packageRoot, name), 'utf8');
}

/** docker-compose.yml with its anchors merged and its variables not yet replaced. */
export function composeFile(): ComposeFile {
  return parse(readRoot('docker-compose.yml'), { merge: true }) as ComposeFile;
}

/**
 * The text that a container gets after Compose has replaced variables: `$$` becomes `$`, and `${NAME:?…}` is required.
 */
export function interpolate(text: string, values: Record<string, string>): string {
  return text.replaceAll(/\$\$|\$\{(\w+):\?[^}]*\}|\$/g, (match, name: string | undefined) => {
    if (match === '$$') return '$';
    const value = name === undefined ? undefined : values[name];
    if (value === undefined) throw new Error(`docker-compose.yml: ${match} is not filled in`);
    return value;
  });
}

/** The environment of a service with its variables replaced. */
export function environmentOf(
  service: Service,
  values: Record<string, string>,
): Record<string, string> {
  const entries = Object.entries(service.environment ?? {});
  return Object.fromEntries(
    entries.map(([name, value]) => [name, interpolate(String(value), values)]),
  );
}
