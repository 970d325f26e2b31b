const { createHash } = require('node:crypto');
const { readFileSync } = require('node:fs');
const path = require('node:path');

/** The release of the compiler, whose output differs between releases. */
const COMPILER = require('@swc/core/package.json').version;

/** The folder of compiled files. Their names have a hash of the source, so none is out of date. */
const folder = path.join(__dirname, '..', '..', '..', 'node_modules', '.cache', 'bursar-test');

/** The source of a file, and where its compiled form and its source map are. */
function compiledOf(file) {
  const source = readFileSync(file, 'utf8');
  const name = createHash('sha1').update(`${COMPILER}\n${file}\n${source}`).digest('hex');
  return {
    source,
    codeFile: path.join(folder, `${name}.js`),
    mapFile: path.join(folder, `${name}.map`),
  };
}

module.exports = { folder, compiledOf };
