/** Recipes for Java: imports at the top of a class, the opening as its members, and the rest in `main`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { call, installOnce, mustCall, root } from '../install-once.ts';
import { alwaysRuns, type RecipeRunner } from '../recipe-runner.ts';
import { splitImports } from '../split-imports.ts';

const IMPORT = /^import .*;$/;

/** With the packages of clients/recipes/java/SET.xml. */
export function java(set: string): RecipeRunner {
  return {
    opening: 'java',
    prepare: () => {
      if (['java', 'mvn'].some((command) => call(command, ['--version']).status !== 0))
        return { needs: 'Java and Maven' };
      const classPath = resolveClassPath(set);
      return {
        reasonAgainst: alwaysRuns,
        write: (folder, _, { opening, code }) => {
          const members = splitImports(opening, IMPORT);
          const body = splitImports(code, IMPORT);
          const main = `public static void main(String[] args) throws Exception {\n${body.rest}\nSystem.exit(0);\n}`;
          const text = `${members.imports}\n${body.imports}\npublic class Recipe {\n${members.rest}\n${main}\n}\n`;
          writeFileSync(join(folder, 'Recipe.java'), text);
          return `java -cp '${classPath}' Recipe.java`;
        },
      };
    },
  };
}

/** The packages themselves are in Maven's own folder. */
function resolveClassPath(set: string): string {
  const file = `${set}.xml`;
  const folder = installOnce(
    'java',
    [join(root, 'clients/recipes/java', file)],
    mustCall('java', ['--version']),
    (at) =>
      mustCall('mvn', ['-q', '-B', '-f', file, 'dependency:build-classpath', '-Dmdep.outputFile=class-path'], {
        cwd: at,
      }),
  );
  return readFileSync(join(folder, 'class-path'), 'utf8').trim();
}
