'use strict'
// Beside launcher.cjs, because an old Node.js does not read it.
module.exports = file => import(`../dist/${file}.js`)
