"""`python run.py PROGRAM [PYTHON]`: runs one program against the fake provider, prints its trees, and compares them with expected.json."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from fake_provider import FakeProvider

HERE = Path(__file__).parent
KEYS = {
    "OPENAI_API_KEY": "sk-test",
    "ANTHROPIC_API_KEY": "sk-ant-test",
    "GEMINI_API_KEY": "AIzaTest",
    "GOOGLE_API_KEY": "AIzaTest",
    "TOGETHERAI_API_KEY": "t",
    "TOGETHER_API_KEY": "t",
    "DEEPSEEK_API_KEY": "d",
    # Off for its time: it would try to reach the provider.
    "OPENAI_AGENTS_DISABLE_TRACING": "0" if sys.argv[1].endswith(".mjs") else "1",
    "CREWAI_TELEMETRY_OPT_OUT": "true",
    "OTEL_SDK_DISABLED": "",
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
}


def main(program: str, python: str) -> int:
    fake = FakeProvider()
    # A program for Node is given by its path, with the command that runs it.
    file = program if program.endswith(".mjs") else str(HERE / f"program_{program}.py")
    env = {**os.environ, **KEYS, "TOLLGATE_URL": fake.url, "TOLLGATE_KEY": "tgk_test", "PYTHONPATH": str(HERE.parent / "src")}
    done = subprocess.run([python, file], env=env, capture_output=True, text=True, timeout=400)
    print(f"{program}: exit {done.returncode}")
    if done.returncode != 0:
        print(done.stderr[-3000:])
    for (run_id, path), calls in sorted(fake.calls.items(), key=lambda item: (str(item[0][0]), item[0][1])):
        print(f"  {run_id}: {path or '-'} {calls}")
    if fake.unnamed:
        print("  without key or provider:", fake.unnamed)
    fake.close()
    expected = json.loads((HERE / "expected.json").read_text())[Path(program).stem]
    wanted = {(run_id, path): calls for run_id in ("x", "y") for path, calls in expected.items()}
    is_right = done.returncode == 0 and dict(fake.calls) == wanted and not fake.unnamed
    print(f"  {'right' if is_right else 'WRONG'}: {sum(fake.calls.values())} calls in {len({run for run, _ in fake.calls})} runs")
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else sys.executable))
