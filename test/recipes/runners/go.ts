/** Recipes for Go: the imports that stand in front of each, the opening, and the rest in `main`. */
import { copyFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { call, installOnce, mustCall, root } from '../install-once.ts';
import { alwaysRuns, type RecipeRunner } from '../recipe-runner.ts';
import { splitImports } from '../split-imports.ts';

const FILES = ['go.mod', 'go.sum'];
const OWN_PLACES = ['GOPATH', 'GOMODCACHE', 'GOCACHE', 'GOPROXY'];

/** With the module of clients/recipes/NAME. */
export function go(name: string): RecipeRunner {
  return {
    opening: 'go',
    prepare: () => {
      const { status, stdout: version } = call('go', ['version']);
      if (status !== 0) return { needs: 'Go' };
      const files = FILES.map((file) => join(root, 'clients/recipes', name, file));
      // Downloads take longer than a recipe may.
      installOnce(`go-${name}`, files, version, (cwd) => mustCall('go', ['mod', 'download'], { cwd }));
      const places = OWN_PLACES.map((name) => [name, mustCall('go', ['env', name]).trim()]);
      return {
        reasonAgainst: alwaysRuns,
        // The home is another one, and the versions are those of go.sum.
        env: { ...Object.fromEntries(places), GOFLAGS: '-mod=readonly', GOTOOLCHAIN: 'local' },
        write: (folder, _, { opening, code }) => {
          for (const file of files) copyFileSync(file, join(folder, basename(file)));
          const { imports, rest } = splitImports(code, /^import .*$/);
          const main = `func main() {\n${rest}\n\tif err != nil {\n\t\tpanic(err)\n\t}\n}\n`;
          writeFileSync(join(folder, 'main.go'), `package main\n\n${imports}\n${opening}\n${main}`);
          return 'go run .';
        },
      };
    },
  };
}
