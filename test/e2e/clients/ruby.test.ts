/** ruby-kubeclient in a space: a watch by the old /watch/ paths, every kind of write. */
import t from 'tap'
import { findInterpreter, STORY, startSpace, tell } from './session.ts'

const ruby = await findInterpreter(['/usr/bin/ruby', 'ruby'], ['-e', 'require "kubeclient"'])
const skip = ruby ? false : 'the Ruby gem kubeclient is not installed (Debian: ruby-kubeclient)'

t.test('a session of the Ruby client', { skip }, async t => {
  const { kubeconfig } = await startSpace(t, 'rb')
  t.strictSame(await tell(ruby!, 'session.rb', kubeconfig), STORY)
})
