/** python3-kubernetes in a space: typed and dynamic clients, a watch, every kind of write. */
import t from 'tap'
import { findInterpreter, STORY, startSpace, tell } from './session.ts'

const python = await findInterpreter(['/usr/bin/python3', 'python3'], ['-c', 'import kubernetes.dynamic'])
const skip = python ? false : 'the Python package kubernetes is not installed (Debian: python3-kubernetes)'

t.test('a session of the Python client', { skip }, async t => {
  const { kubeconfig } = await startSpace(t, 'py')
  t.strictSame(await tell(python!, 'session.py', kubeconfig), STORY)
})
