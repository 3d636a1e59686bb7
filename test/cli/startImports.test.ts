/** What the server loads before it is ready: big parts of Node and libraries that hardly anyone needs stay out. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'

const START = join(import.meta.dirname, '../../src/cli/start.ts')

t.test('a start loads neither undici nor libraries for rare requests', async t => {
  // An `import … from 'node:http'` anywhere would read all exports of that module and so load undici: 13 MB, 20 ms.
  const script = `
    await import(${JSON.stringify(START)})
    const { createRequire } = process.getBuiltinModule('node:module')
    const files = Object.keys(createRequire(import.meta.url).cache)
    console.log(JSON.stringify({
      undici: process.moduleLoadList.some(name => name.includes('undici')),
      rare: ['yaml', 'ajv', 'fast-json-stringify-compiler', '@peculiar', 'client-node'].filter(
        name => files.some(file => file.includes('/node_modules/' + name + '/')),
      ),
    }))`
  const args = ['--input-type=module', '--eval', script]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  t.same(JSON.parse(stdout), { undici: false, rare: [] })
})
