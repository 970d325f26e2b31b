/**
 * Makes something anew until it fits, at most so many times: a busy machine may miss a time limit that the test needs to be
 * kept. Returns the last one, whether it fits or not.
 */
export async function inTries<Made>(
  tries: number,
  make: () => Promise<Made>,
  fits: (made: Made) => boolean | Promise<boolean>,
): Promise<Made> {
  for (let left = tries; ; left -= 1) {
    const made = await make();
    if ((await fits(made)) || left <= 1) return made;
  }
}
