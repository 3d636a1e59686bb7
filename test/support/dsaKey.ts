/** A private key for DSA as somebody makes it who wants it to be dear: whoever reads it has to compute its public half. */
import { randomBytes } from 'node:crypto'

const DSA = Buffer.from('06072a8648ce380401', 'hex')
const [INTEGER, OCTETS, SEQUENCE] = [0x02, 0x04, 0x30]

/** PKCS #8, as PEM; `bits` are of the modulus, which is no prime: nobody looks. A multiple of 8. */
export function dsaKeyPem(bits: number): string {
  const numbers = der(SEQUENCE, integer(bits / 8), integer(32), integer(bits / 8))
  const key = der(SEQUENCE, der(INTEGER, Buffer.of(0)), der(SEQUENCE, DSA, numbers), der(OCTETS, integer(bits / 8)))
  return `-----BEGIN PRIVATE KEY-----\n${key.toString('base64').replace(/.{1,64}/g, '$&\n')}-----END PRIVATE KEY-----\n`
}

/** A random odd one, above zero. */
function integer(bytes: number): Buffer {
  const value = randomBytes(bytes)
  value[0] = 0x55
  value[bytes - 1]! |= 1
  return der(INTEGER, value)
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.of(tag), lengthOf(content.length), content])
}

function lengthOf(length: number): Buffer {
  if (length < 128) return Buffer.of(length)
  const digits = Buffer.from(length.toString(16).padStart(length < 0x1_00 ? 2 : length < 0x1_00_00 ? 4 : 6, '0'), 'hex')
  return Buffer.concat([Buffer.of(0x80 + digits.length), digits])
}
