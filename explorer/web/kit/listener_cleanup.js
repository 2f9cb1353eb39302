// Listeners that an instrument of the kit gave to the page: they end when its component is taken away.

/** @type {(() => void)[] | null} */
let collected = null;

/**
 * Run a function; what it hands to `onRelease` is added to `releases`.
 * @template Result
 * @param {(() => void)[]} releases
 * @param {() => Result} run
 */
export function collecting(releases, run) {
  const outer = collected;
  collected = releases;
  try {
    return run();
  } finally {
    collected = outer;
  }
}

/**
 * Have a function called when the component that is being made is taken away; never for one that stays.
 * @param {() => void} release
 */
export const onRelease = (release) => void collected?.push(release);
