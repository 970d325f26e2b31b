// `npm start` and `npm run dev`: set-up, then the supervisor, in one process, which takes the place of npm's shell
// (`exec` in package.json). So a signal to npm alone, which npm passes on to its child, arrives here. A shell in between
// keeps SIGINT to itself until the program that it waits for ends, and a service never ends.
const starter = process.ppid;
await import('./setup.mjs');
// npm was killed meanwhile: nobody would see what runs, and nobody could stop it.
if (process.ppid !== starter) process.exit(1);
await import('../dist/devstack/start.js');
