// Prints the software bill of materials of the image in the form CycloneDX 1.6: each package that `npm ci --omit=dev`
// installs there (Linux, x64, glibc), with its version, licence and SHA-512. It is made from package-lock.json alone:
// `npm sbom --omit dev` leaves out most of the tree (npm 11.19).
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const read = (name) => JSON.parse(readFileSync(join(root, name), 'utf8'));

const IMAGE = { os: 'linux', cpu: 'x64', libc: 'glibc' };
const fits = (allowed, own) => allowed === undefined || allowed.includes(own);

/** The packages of the image: their folders, with their entries in the lock file. */
const installed = (packages) =>
  Object.entries(packages).filter(
    ([path, { dev, devOptional, os, cpu, libc }]) =>
      path !== '' &&
      !dev &&
      !devOptional &&
      fits(os, IMAGE.os) &&
      fits(cpu, IMAGE.cpu) &&
      fits(libc, IMAGE.libc),
  );

const nameOf = (path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** The address of a package (purl); the `@` of a scope is encoded. */
const purlOf = (name, version) => `pkg:npm/${name.replace('@', '%40')}@${version}`;

/** `sha512-<base64>` of the lock file as a hash of CycloneDX. */
const hashOf = (integrity) => ({
  alg: 'SHA-512',
  content: Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex'),
});

const licensesOf = (license) =>
  license === undefined
    ? []
    : [/[ ()]/.test(license) ? { expression: license } : { license: { id: license } }];

const componentOf = ([path, { version, integrity, license }]) => ({
  type: 'library',
  // The folder: one version may be installed in two places.
  'bom-ref': path,
  name: nameOf(path),
  version,
  purl: purlOf(nameOf(path), version),
  hashes: [hashOf(integrity)],
  licenses: licensesOf(license),
});

/** The bill of materials of a lock file. */
export const billOf = ({ name, version, packages }) => ({
  $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  version: 1,
  metadata: {
    component: { type: 'application', 'bom-ref': name, name, version, purl: purlOf(name, version) },
  },
  components: installed(packages).map(componentOf),
});

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { version } = read('package.json');
  console.log(JSON.stringify(billOf({ ...read('package-lock.json'), version }), null, 2));
}
