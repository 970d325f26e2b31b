import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A process of the bench itself, compiled next to this file. */
export type Child<Question, Answer> = {
  pid: number;
  /** One question at a time; rejects if the process ends instead of answering. */
  request(question: Question): Promise<Answer>;
  /** Sends a message that is not answered. */
  send(question: Question): void;
  stop(): Promise<void>;
};

/** Starts a process of the bench; `stop` disconnects it and waits for its end. */
export function startChild<Question extends object, Answer>(
  script: string,
  env: NodeJS.ProcessEnv = {},
): Child<Question, Answer> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = fork(path, { env: { ...process.env, ...env }, serialization: 'advanced' });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
  });
  return {
    pid: child.pid ?? 0,
    request: (question) =>
      new Promise((resolve, reject) => {
        const onExit = (code: number | null) => reject(new Error(`${script} ended with ${code}`));
        child.once('exit', onExit);
        child.once('message', (answer) => {
          child.off('exit', onExit);
          resolve(answer as Answer);
        });
        child.send(question);
      }),
    send: (question) => void child.send(question),
    async stop() {
      child.disconnect();
      await ended;
    },
  };
}

/** The child's side: answers each question; null sends no answer. The process ends with its parent. */
export function serveParent(handle: (question: unknown) => Promise<object | null>): void {
  process.on('message', (question) => {
    handle(question).then(
      (answer) => answer !== null && process.send?.(answer),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  });
  process.once('disconnect', () => process.exit(0));
}
