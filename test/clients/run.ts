/** `npm run test:helpers [-- frameworks]`: the packages in clients/, each with its own tools, as far as those are installed. */
import { findPython, testPython } from './python.ts';
import { testPythonFrameworks } from './python-frameworks.ts';
import { testTypescriptFrameworks } from './typescript-frameworks.ts';

const python = findPython();
if (python === null) console.log('NOT TRIED: clients/python needs Python 3.10 or newer with venv (PYTHON: which one)');
else if (process.argv[2] !== 'frameworks') await testPython(python);
else if (![testPythonFrameworks, testTypescriptFrameworks].map((test) => test(python)).every(Boolean))
  process.exitCode = 1;
