/** True if Bursar supports this release of Node; `engines` in package.json states the same for npm. */
export function isSupported(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return (major === 20 && minor >= 20) || (major === 22 && minor >= 13) || major >= 24;
}

/** The message for an unsupported release. */
export const NEEDED =
  'Node.js 24 is needed (20.20 or later of 20 and 22.13 or later of 22 work too)';
