/**
 * The built dashboard, read once at the start: what is served is exactly this list, so no path of a request ever names
 * a file. It stays in memory (some megabytes), so that a page which is open goes on when the files are built anew.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';

/** In the order of preference. The build makes them; a small file has none. */
export const ENCODINGS = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
] as const;

export type Encoding = (typeof ENCODINGS)[number]['name'];

export interface DashboardFile {
  readonly contentType: string;
  /** Its name holds a hash of its content: it never changes. */
  readonly isHashed: boolean;
  readonly content: Uint8Array<ArrayBuffer>;
  readonly encoded: ReadonlyMap<Encoding, Uint8Array<ArrayBuffer>>;
  /** Of the content; without quotes. */
  readonly hash: string;
}

/** By the path of the request, such as `/assets/index-4f2a.js`. */
export type DashboardFiles = ReadonlyMap<string, DashboardFile>;

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
};

/** Null when it was not built. */
export function readDashboardFiles(dir: string): DashboardFiles | null {
  const paths = listFiles(dir);
  if (!paths.includes('/index.html')) return null;
  const files = new Map<string, DashboardFile>();
  for (const path of paths) {
    if (ENCODINGS.some(({ suffix }) => path.endsWith(suffix))) continue;
    const content = readFileSync(join(dir, path));
    const encoded = new Map<Encoding, Uint8Array<ArrayBuffer>>();
    for (const { name, suffix } of ENCODINGS)
      if (paths.includes(path + suffix)) encoded.set(name, readFileSync(join(dir, path + suffix)));
    files.set(path, {
      contentType: CONTENT_TYPES[extname(path)] ?? 'application/octet-stream',
      isHashed: path.startsWith('/assets/'),
      content,
      encoded,
      hash: createHash('sha256').update(content).digest('base64url').slice(0, 22),
    });
  }
  return files;
}

/** Without hidden ones: those are the build's notes for itself. */
function listFiles(dir: string): readonly string[] {
  try {
    return readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => `/${relative(dir, join(entry.parentPath, entry.name)).split(sep).join('/')}`)
      .filter((path) => !path.includes('/.'));
  } catch {
    // Not there: the same as not built.
    return [];
  }
}
