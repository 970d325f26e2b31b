/** The oldest MongoDB that its maker still supports; 6.0 ended in July 2025. */
const OLDEST_SUPPORTED = 7;

/** A line about a mongod that its maker no longer supports; null for one that is supported. */
export const unsupportedMongod = (version: string): string | null =>
  Number.parseInt(version, 10) < OLDEST_SUPPORTED
    ? `mongod ${version} is out of support: for development only`
    : null;
