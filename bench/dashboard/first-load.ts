/** What a browser must load before the dashboard works: the scripts of the first page, as a server sends them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { z } from 'zod';

const Manifest = z.record(
  z.string(),
  z.object({
    file: z.string(),
    isEntry: z.boolean().optional(),
    imports: z.array(z.string()).optional(),
  }),
);

export interface LoadSize {
  readonly name: string;
  readonly files: number;
  readonly bytes: number;
  readonly gzipBytes: number;
  readonly brotliBytes: number;
}

/** The files that a chunk needs, itself among them. */
function filesOf(manifest: z.infer<typeof Manifest>, chunk: string, known = new Set<string>()): Set<string> {
  const entry = manifest[chunk];
  if (entry === undefined || known.has(entry.file)) return known;
  known.add(entry.file);
  for (const imported of entry.imports ?? []) filesOf(manifest, imported, known);
  return known;
}

function measure(dir: string, name: string, files: ReadonlySet<string>): LoadSize {
  const contents = [...files].map((file) => readFileSync(join(dir, file)));
  const sum = (sizeOf: (content: Buffer) => number) => contents.reduce((total, content) => total + sizeOf(content), 0);
  return {
    name,
    files: files.size,
    bytes: sum((content) => content.length),
    gzipBytes: sum((content) => gzipSync(content, { level: 9 }).length),
    brotliBytes: sum((content) => brotliCompressSync(content).length),
  };
}

/** For the pages that one opens first: the entry with the page's own code; `dir` is `dist/dashboard`. */
export function measureFirstLoads(dir: string): readonly LoadSize[] {
  const manifest = Manifest.parse(JSON.parse(readFileSync(join(dir, '.vite', 'manifest.json'), 'utf8')));
  const entry = Object.keys(manifest).find((name) => manifest[name]?.isEntry === true) ?? '';
  const pages = Object.keys(manifest).filter((name) => /pages\/.*-page\.tsx$/.test(name));
  return pages.map((page) =>
    measure(dir, page.replace(/.*\/(.*)-page\.tsx$/, '$1'), filesOf(manifest, page, filesOf(manifest, entry))),
  );
}
