/** The part of package-lock.json that says which packages are installed. */
export type Lock = {
  packages: Record<
    string,
    {
      version?: string;
      dev?: boolean;
      devOptional?: boolean;
      os?: string[];
      cpu?: string[];
      libc?: string[];
    }
  >;
};

const IMAGE = { os: 'linux', cpu: 'x64', libc: 'glibc' };

/** Packages that `npm ci --omit=dev` installs in the image (Linux, x64, glibc), by their folders. */
export function installedInImage({ packages }: Lock): { path: string; name: string }[] {
  const fits = (allowed: string[] | undefined, own: string) =>
    allowed === undefined || allowed.includes(own);
  return Object.entries(packages).flatMap(([path, { dev, devOptional, os, cpu, libc }]) => {
    const installed =
      path !== '' &&
      !dev &&
      !devOptional &&
      fits(os, IMAGE.os) &&
      fits(cpu, IMAGE.cpu) &&
      fits(libc, IMAGE.libc);
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    return installed ? [{ path, name }] : [];
  });
}
