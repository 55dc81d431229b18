/** Recipes for Rust: the opening, and the rest in `main`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { call, installOnce, mustCall, root } from '../install-once.ts';
import { alwaysRuns, type RecipeRunner } from '../recipe-runner.ts';

const LOCK = ['Cargo.toml', 'Cargo.lock'].map((file) => join(root, 'clients/recipes/rust', file));

export const rust: RecipeRunner = {
  opening: 'rust',
  prepare: () => {
    const { status, stdout } = call('cargo', ['--version']);
    if (status !== 0) return { needs: 'Rust with Cargo' };
    // Compiling the packages is what takes time, so the recipes are programs of one project there.
    const project = installOnce('rust', LOCK, stdout, (folder) => {
      mkdirSync(join(folder, 'src/bin'), { recursive: true });
      writeFileSync(join(folder, 'src/main.rs'), 'fn main() {}\n');
      mustCall('cargo', ['build', '--quiet', '--locked'], { cwd: folder });
    });
    return {
      reasonAgainst: alwaysRuns,
      env: {
        CARGO_HOME: process.env['CARGO_HOME'] ?? join(homedir(), '.cargo'),
        RUSTUP_HOME: process.env['RUSTUP_HOME'] ?? join(homedir(), '.rustup'),
        CARGO_TARGET_DIR: process.env['CARGO_TARGET_DIR'] ?? join(project, 'target'),
      },
      write: (_folder, { recipe }, { opening, code }) => {
        const main = `#[tokio::main]\nasync fn main() -> Result<(), Box<dyn std::error::Error>> {\n${code}\nOk(())\n}\n`;
        writeFileSync(join(project, 'src/bin', `${recipe}.rs`), `#![allow(dead_code)]\n${opening}\n${main}`);
        return `cargo run --quiet --locked --manifest-path '${project}/Cargo.toml' --bin '${recipe}'`;
      },
    };
  },
};
