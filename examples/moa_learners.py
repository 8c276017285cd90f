"""Evaluate MOA's learners, given by their command lines. They run in a Java virtual machine in this process.

The environment variable STREAMGAUGE_MOA_JAR is the path of MOA's jar; the default is the jar of an installed CapyMOA.
WEKA's classifiers work too if the jar contains them: Moa("weka.classifiers.bayes.NaiveBayesUpdateable").
"""

import streamgauge as sg
from streamgauge.learners import Moa

results = sg.evaluate(
    sg.RandomRBF(n_rows=10_000),
    {
        "MOA's tree": Moa("trees.HoeffdingTree -g 100"),
        "MOA's bagging": Moa("meta.OzaBag -l trees.HoeffdingTree -s 5"),
        "our tree": sg.HoeffdingTree(grace_period=100),
    },
)
for name in results.learners:
    print(f"accuracy of {name}: {results.curve(name, 'accuracy')[-1].mean():.3f}")
