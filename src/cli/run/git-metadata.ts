/** What git says of the folder a program runs in: who, which repository, branch and commit. Never what is in a file. */
import { execFile } from 'node:child_process';
import { basename } from 'node:path';

const GIT_LIMIT_MS = 2_000;

/** Null where git is missing, slow, or says nothing. */
function askGit(cwd: string, ...args: readonly string[]): Promise<string | null> {
  return new Promise((resolve) => {
    execFile('git', [...args], { cwd, timeout: GIT_LIMIT_MS, encoding: 'utf8' }, (error, stdout) => {
      const text = stdout.trim();
      resolve(error !== null || text === '' ? null : text);
    });
  });
}

/** `git@host:team/shop.git` and `https://user:secret@host/team/shop.git` are `team/shop`: never a credential. */
export function nameRepository(remote: string | null, folder: string | null): string | null {
  const path = remote === null ? null : /[:/]([^:/@]+\/[^:/@]+?)(?:\.git)?\/?$/.exec(remote)?.[1];
  return path ?? (folder === null ? null : basename(folder));
}

/** By metadata key; a member is absent where it is not known. */
export async function readGitMetadata(cwd: string): Promise<Readonly<Record<string, string>>> {
  const [email, remote, folder, branch, commit] = await Promise.all([
    askGit(cwd, 'config', 'user.email'),
    askGit(cwd, 'remote', 'get-url', 'origin'),
    askGit(cwd, 'rev-parse', '--show-toplevel'),
    askGit(cwd, 'branch', '--show-current'),
    askGit(cwd, 'rev-parse', 'HEAD'),
  ]);
  const known = {
    Developer: email,
    Repo: folder === null ? null : nameRepository(remote, folder),
    Branch: folder === null ? null : branch,
    Commit: commit,
  };
  return Object.fromEntries(Object.entries(known).flatMap(([name, value]) => (value === null ? [] : [[name, value]])));
}
