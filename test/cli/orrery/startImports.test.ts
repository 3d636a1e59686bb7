/** Modules that programs load before they are of use: big parts of Node and rarely used libraries stay out. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'

const KUBECONFIG = join(import.meta.dirname, '../../../src/client/kubeconfig.ts')
const START = join(import.meta.dirname, '../../../src/cli/orrery/server/start.ts')

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

t.test('a command reads a certificate or a token without the library for credential plugins', async t => {
  const user = { 'client-certificate-data': 'Q0VSVA==', token: 'x' }
  const config = {
    clusters: [{ name: 'c', cluster: { server: 'https://h' } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  }
  const path = join(t.testdir({ kubeconfig: JSON.stringify(config) }), 'kubeconfig')
  const script = `
    import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
    const { loadKubeconfig } = await import(${JSON.stringify(KUBECONFIG)})
    await loadKubeconfig(${JSON.stringify(path)}, 'c')
    console.log(JSON.stringify({ own: loaded.length > 0, library: loaded.some(url => url.includes('client-node')) }))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script])
  t.same(JSON.parse(stdout), { own: true, library: false })
})
