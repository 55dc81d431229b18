/**
 * `node test/chart/make-schemas.ts PACKAGE FOLDER`: from the schemas in the Python package `kubernetes-validate`
 * (PACKAGE: its folder `kubernetes_validate`) those that kubeconform reads, each whole in itself, into FOLDER. Then
 * `KUBECONFORM_SCHEMAS=FOLDER npm run test:chart` needs no network.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [from, to] = process.argv.slice(2);
if (from === undefined || to === undefined) throw new Error('usage: make-schemas.ts PACKAGE FOLDER');

/** What the chart renders, and the pod that is in most of it. */
const KINDS =
  /^(deployment|horizontalpodautoscaler|ingress|networkpolicy|pod|poddisruptionbudget|service|serviceaccount|statefulset)-/;
const ENDING = '-local-strict';

type Definitions = Readonly<Record<string, unknown>>;

/** The definitions that a schema needs, itself or by another one: kubeconform takes long over all of them. */
function pickNeeded(schema: unknown, all: Definitions): Definitions {
  const needed = new Map<string, unknown>();
  const look = (part: unknown): void => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/\$defs\/([^"]+)"/g)) {
      if (needed.has(name)) continue;
      needed.set(name, all[name]);
      look(all[name]);
    }
  };
  look(schema);
  return Object.fromEntries(needed);
}

const read = (path: string) => JSON.parse(readFileSync(path, 'utf8').replaceAll('/api/_definitions.json#', '#'));

const schemas = join(from, 'kubernetes-json-schema');
for (const folder of readdirSync(schemas).filter((name) => name.endsWith(ENDING))) {
  const target = join(to, folder.replace(ENDING, '-standalone-strict'));
  mkdirSync(target, { recursive: true });
  const { $defs } = read(join(schemas, folder, '_definitions.json'));
  for (const name of readdirSync(join(schemas, folder)).filter((file) => KINDS.test(file))) {
    const schema = read(join(schemas, folder, name));
    writeFileSync(join(target, name), JSON.stringify({ ...schema, $defs: pickNeeded(schema, $defs) }));
  }
}
