// `npm start` and `npm run dev`: set-up, then the supervisor, in one process that replaces npm's shell (`exec` in
// package.json), so that a signal to npm reaches it. A shell in between would keep SIGINT to itself until its child
// ends, and a service never ends.
const starter = process.ppid;
await import('./setup.mjs');
// npm was killed meanwhile: nobody could see or stop what this process starts.
if (process.ppid !== starter) process.exit(1);
await import('../dist/devstack/start.js');
