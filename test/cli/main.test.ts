/** The command line as a whole: what somebody reads who mistypes. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'

const ORRERY = join(import.meta.dirname, '../../bin/orrery')

function run(...args: string[]): Promise<{ code: unknown; err: string }> {
  return new Promise(resolve => execFile(ORRERY, args, (error, _out, err) => resolve({ code: error?.code ?? 0, err })))
}

t.test('a misspelt sub-command is named, with those that there are', async t => {
  t.strictSame(await run('syncer', 'adapt', '--from-kubeconfig', 'nowhere'), {
    code: 1,
    err: 'orrery syncer: there is no sub-command "adapt"; there is: adopt\n',
  })
  t.match(await run('syncer', 'adopt'), { code: 1, err: /^orrery syncer adopt: --from-kubeconfig is required/ })
  t.match(await run('store', 'verfy'), { code: 1, err: /unknown command 'verfy'\n\(Did you mean verify\?\)/ })
})
