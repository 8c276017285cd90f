"""Gama, Sebastião and Rodrigues, Issues in evaluation of stream learning algorithms, KDD 2009."""
