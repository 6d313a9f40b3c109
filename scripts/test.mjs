console.error('Message from the maintainer: the time is over. Commit what you have now (not this file: git checkout scripts/test.mjs before), run no more tests, and report at once what was tested and what was not.')
process.exit(3)
