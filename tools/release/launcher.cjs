'use strict'
// What the programs of the package share. Written so that a Node.js that is too old reads it and can say so.
var ranges = require('../package.json').engines.node.split(' || ')
var own = numbers(process.versions.node)

module.exports = function launch(program, file, first) {
  if (first) process.argv.splice(2, 0, first)
  if (ranges.some(holds)) return require('./load.cjs')(file)
  process.stderr.write(
    program +
      ': Node.js ' +
      process.version +
      ' does not run this release, which needs ' +
      ranges.join(' or ') +
      '. Install the current LTS release (https://nodejs.org), or take the one file, which brings its own\n',
  )
  process.exitCode = 1
}

/** `^22.1.0`: that release and later ones with the same first number. `>=24.1.0`: that and all later ones. */
function holds(range) {
  var least = numbers(range.replace(/^[^0-9]+/, ''))
  if (own[0] !== least[0]) return range[0] === '>' && own[0] > least[0]
  return own[1] !== least[1] ? own[1] > least[1] : own[2] >= least[2]
}

function numbers(version) {
  return version.split('.').map(Number)
}
