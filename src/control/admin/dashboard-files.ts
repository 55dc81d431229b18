/** The built dashboard, read into memory at the start: no request names a file, and open pages survive a new build. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';

/** In order of preference; small files have none. */
export const ENCODINGS = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
] as const;

export type Encoding = (typeof ENCODINGS)[number]['name'];

export interface DashboardFile {
  readonly contentType: string;
  /** The file name contains a hash of the content. */
  readonly isHashed: boolean;
  readonly content: Uint8Array<ArrayBuffer>;
  readonly encoded: ReadonlyMap<Encoding, Uint8Array<ArrayBuffer>>;
  readonly hash: string;
}

/** Keyed by request path, such as `/assets/index-4f2a.js`. */
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

/** Leaves out hidden files, the build's own notes. */
function listFiles(dir: string): readonly string[] {
  try {
    return readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => `/${relative(dir, join(entry.parentPath, entry.name)).split(sep).join('/')}`)
      .filter((path) => !path.includes('/.'));
  } catch {
    return [];
  }
}
