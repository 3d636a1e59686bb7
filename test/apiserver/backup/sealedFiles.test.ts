/** A restore writes sealed files by the names that the writer of the archive gave them. */
import t from 'tap'
import { newSeal, seal, unseal } from '../../../src/apiserver/backup/sealedFiles.ts'

t.test('sealed files are keys of a server and nothing else', async t => {
  const key = await newSeal(Buffer.from('correct horse battery staple'))
  const files = { 'pki/ca.key': 'a key', 'pki/ca.crt': 'a certificate' }
  t.strictSame(unseal(seal(files, key), key), files)
  for (const name of ['../elsewhere', '/etc/elsewhere', 'pki/../elsewhere', 'store/CURRENT', 'ca.key'])
    t.equal(unseal(seal({ ...files, [name]: 'x' }, key), key), undefined, name)
})
