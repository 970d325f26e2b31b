/** Whether Bursar runs on this release of Node; `engines` in package.json says the same to npm. */
export function isSupported(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return (major === 20 && minor >= 20) || (major === 22 && minor >= 13) || major >= 24;
}

export const NEEDED =
  'Node.js 24 is needed (20.20 or later of 20 and 22.13 or later of 22 work too)';
