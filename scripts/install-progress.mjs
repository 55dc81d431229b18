// What an installation has done so far, for a person who waits: a line that is rewritten in a terminal, else a line every
// ten seconds. Runs on the machine's own Node, so it uses only what Node 20 has.

const TERMINAL_INTERVAL_MS = 500;
const LINE_INTERVAL_MS = 10_000;

/** `packages` are those that this platform needs. The numbers come from npm's own log of what it fetched. */
export function createInstallProgress(stream, packages, now = () => Date.now()) {
  const startedMs = now();
  const isTerminal = stream.isTTY === true;
  let fetched = 0;
  /** Why the last attempt of npm failed; it makes three, over minutes. */
  let trouble = '';
  const seconds = () => Math.round((now() - startedMs) / 1000);
  const text = () => {
    const what =
      fetched < packages ? `${fetched} of about ${packages} packages fetched` : 'all packages fetched, unpacking';
    return `Tollgate: installing: ${what}, ${seconds()} s${trouble}`;
  };
  const show = () => stream.write(isTerminal ? `\r\u001b[K${text()}` : `${text()}\n`);
  const timer = setInterval(show, isTerminal ? TERMINAL_INTERVAL_MS : LINE_INTERVAL_MS);
  return {
    /** A line that npm wrote. True when it tells of progress, so that nobody has to see it. */
    take(line) {
      if (!/^npm http /.test(line)) return false;
      const failed = /attempt \d+ failed with (\w+)/.exec(line);
      trouble = failed === null ? '' : ` (the registry cannot be reached, ${failed[1]}; npm tries again)`;
      // From the network or from npm's cache; other lines are of descriptions of packages.
      if (failed === null && /\.tgz\b/.test(line)) fetched = Math.min(packages, fetched + 1);
      return true;
    },
    show,
    end(isDone) {
      clearInterval(timer);
      if (isTerminal) stream.write('\r\u001b[K');
      if (isDone) stream.write(`Tollgate: installed ${fetched} packages in ${seconds()} s.\n`);
    },
  };
}
