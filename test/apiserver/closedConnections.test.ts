import t from 'tap'
import { closedConnections } from './closedConnections.ts'

await closedConnections(t, 0)
