"""Prints the words heard in a WAV file of 16 kHz, out of those given: recognise.py FILE WORD..."""

import sys
import wave

from pocketsphinx import Decoder

file, words = sys.argv[1], sys.argv[2:]
decoder = Decoder(samprate=16000, lm=None)
decoder.add_jsgf_string("words", "#JSGF V1.0; grammar words; public <said> = (%s)+;" % "|".join(words))
decoder.activate_search("words")
with wave.open(file) as audio:
    data = audio.readframes(audio.getnframes())
decoder.start_utt()
decoder.process_raw(data, full_utt=True)
decoder.end_utt()
print(decoder.hyp().hypstr if decoder.hyp() else "")
